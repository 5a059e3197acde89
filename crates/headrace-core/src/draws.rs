//! Random draws that belong to an item, not to who makes it.
//!
//! The generator is Philox4x64-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC11): a block
//! of four numbers is a function of a key and a counter, so that any part of a stream is found without the parts before.
//!
//! Two uses:
//!
//! - `first_raw` is the first number of the generator that Python's `sample_rng()` gives for an item: NumPy's Philox,
//!   keyed by (seed, epoch), whose counter's top word is the index. A chain of native transforms takes this one number.
//! - `Draws` expands that number: step `s` of the chain owns the stream of key (number, s), from counter 0 on. Steps
//!   therefore draw independently of each other, whatever the others do.

const MULTIPLIERS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
const BUMPS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
const ROUNDS: usize = 10;

/// One block of Philox4x64-10.
fn philox(mut counter: [u64; 4], mut key: [u64; 2]) -> [u64; 4] {
    for _ in 0..ROUNDS {
        let first = u128::from(counter[0]) * u128::from(MULTIPLIERS[0]);
        let second = u128::from(counter[2]) * u128::from(MULTIPLIERS[1]);
        counter = [
            (second >> 64) as u64 ^ counter[1] ^ key[0],
            second as u64,
            (first >> 64) as u64 ^ counter[3] ^ key[1],
            first as u64,
        ];
        key = [key[0].wrapping_add(BUMPS[0]), key[1].wrapping_add(BUMPS[1])];
    }
    counter
}

/// The first raw number of item `index`; NumPy steps the counter before it makes a block.
pub fn first_raw(seed: u64, epoch: u64, index: u64) -> u64 {
    philox([1, 0, 0, index], [seed, epoch])[0]
}

/// The draws of one run of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    seed: u64,
}

impl Draws {
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The draws of a dataset's item.
    pub fn item(seed: u64, epoch: u64, index: u64) -> Self {
        Self::new(first_raw(seed, epoch, index))
    }

    /// The stream of one step.
    pub fn stream(self, step: u64) -> Stream {
        Stream {
            key: [self.seed, step],
            block: 0,
            ready: [0; 4],
            left: 0,
        }
    }
}

/// Numbers drawn one after the other.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u64; 2],
    block: u64,
    ready: [u64; 4],
    left: usize,
}

impl Stream {
    pub fn next_u64(&mut self) -> u64 {
        if self.left == 0 {
            self.ready = philox([self.block, 0, 0, 0], self.key);
            self.block += 1;
            self.left = 4;
        }
        self.left -= 1;
        self.ready[3 - self.left]
    }

    /// A number of [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number of [from, to).
    pub fn uniform(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * self.unit()
    }

    /// An integer of 0 to `bound - 1`, each as likely (Lemire's method); 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// A number of the standard normal distribution (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_test_vectors_hold() {
        // Random123's kat_vectors for philox4x64-10.
        assert_eq!(
            philox([0; 4], [0; 2]),
            [
                0x16554d9eca36314c,
                0xdb20fe9d672d0fdc,
                0xd7e772cee186176b,
                0x7e68b68aec7ba23b
            ]
        );
        assert_eq!(
            philox([u64::MAX; 4], [u64::MAX; 2]),
            [
                0x87b092c3013fe90b,
                0x438c3c67be8d0224,
                0x9cc7d7c69cd777b6,
                0xa09caebf594f0ba0
            ]
        );
    }

    #[test]
    fn bounds_hold_and_streams_differ() {
        let draws = Draws::new(7);
        let mut stream = draws.stream(0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)));
        assert_ne!(draws.stream(0).next_u64(), draws.stream(1).next_u64());
        assert_eq!(draws.stream(3).next_u64(), draws.stream(3).next_u64());
        let mean: f64 = (0..10_000).map(|_| stream.unit()).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02);
    }
}
