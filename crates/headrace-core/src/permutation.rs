//! Keyed bijection on `[0, n)` in constant memory.
//!
//! A Feistel network is a bijection on `[0, 2^k)` whatever its round function is. Walking its cycle from an index below
//! `n` until the value is below `n` again restricts it to a bijection on `[0, n)` (Black and Rogaway, "Ciphers with
//! arbitrary finite domains", 2002). Only wrapping integer arithmetic is used, so every platform agrees.

const ROUNDS: usize = 8;
/// Below this width the halves are too narrow to mix well; walking makes up for the larger domain.
const LEAST_BITS: u32 = 8;

#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    low_bits: u32,
    low_mask: u32,
    high_mask: u32,
    keys: [u32; ROUNDS],
}

impl Permutation {
    /// The largest size; an index is an `i64` on the Python side.
    pub const LARGEST: u64 = i64::MAX as u64;

    /// `None` when `n` is above [`Self::LARGEST`].
    pub fn new(n: u64, key: u64) -> Option<Self> {
        if n > Self::LARGEST {
            return None;
        }
        let bits = (u64::BITS - n.saturating_sub(1).leading_zeros()).max(LEAST_BITS);
        // bits <= 63, so each half fits a u32: the low one has at most 32 bits, the high one at most 31.
        let high_bits = bits / 2;
        let low_bits = bits - high_bits;
        let mut state = key;
        let keys = std::array::from_fn(|_| (split_mix(&mut state) >> 32) as u32);
        let mask = |width: u32| u32::MAX >> (u32::BITS - width);
        Some(Self {
            n,
            low_bits,
            low_mask: mask(low_bits),
            high_mask: mask(high_bits),
            keys,
        })
    }

    pub fn len(&self) -> u64 {
        self.n
    }

    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// `None` when `index` is not below `n`.
    pub fn get(&self, index: u64) -> Option<u64> {
        (index < self.n).then(|| self.walk(index))
    }

    /// Whether `count` indices from `start`, `step` apart, all lie in `[0, n)`.
    pub fn covers(&self, start: i64, count: usize, step: i64) -> bool {
        let Some(gaps) = count.checked_sub(1) else {
            return true;
        };
        let inside = |index: i128| (0..i128::from(self.n)).contains(&index);
        // |step| and gaps are below 2^64, so the product could only overflow when count is absurd.
        let last = (gaps as i128)
            .checked_mul(i128::from(step))
            .and_then(|way| way.checked_add(i128::from(start)));
        inside(i128::from(start)) && last.is_some_and(inside)
    }

    /// Writes `self[start + k * step]` into `out[k]`; false, and nothing written, unless [`Self::covers`].
    pub fn fill(&self, out: &mut [i64], start: i64, step: i64) -> bool {
        if !self.covers(start, out.len(), step) {
            return false;
        }
        let mut index = start;
        for place in out {
            // n <= i64::MAX: both casts are exact. The last addition may leave the domain and is not used.
            *place = self.walk(index as u64) as i64;
            index = index.wrapping_add(step);
        }
        true
    }

    fn walk(&self, index: u64) -> u64 {
        let mut value = index;
        loop {
            value = self.encrypt(value);
            if value < self.n {
                return value;
            }
        }
    }

    fn encrypt(&self, value: u64) -> u64 {
        let mut high = (value >> self.low_bits) as u32;
        let mut low = value as u32 & self.low_mask;
        for pair in self.keys.chunks_exact(2) {
            high ^= mix(low ^ pair[0]) & self.high_mask;
            low ^= mix(high ^ pair[1]) & self.low_mask;
        }
        u64::from(high) << self.low_bits | u64::from(low)
    }
}

/// The finaliser of MurmurHash3 (32 bits).
fn mix(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_bijection() {
        for n in (0..600).chain([1023, 1024, 1025, 65_537]) {
            let permutation = Permutation::new(n, n ^ 0xabcd).unwrap();
            let mut out = vec![0; n as usize];
            assert!(permutation.fill(&mut out, 0, 1));
            out.sort_unstable();
            assert!(out.iter().copied().eq(0..n as i64), "n = {n}");
        }
    }

    #[test]
    fn reaches_the_largest_domain() {
        let permutation = Permutation::new(Permutation::LARGEST, 7).unwrap();
        assert!(permutation.get(Permutation::LARGEST - 1).unwrap() < Permutation::LARGEST);
        assert_eq!(permutation.get(Permutation::LARGEST), None);
        assert!(Permutation::new(Permutation::LARGEST + 1, 7).is_none());
    }

    #[test]
    fn refuses_what_lies_outside() {
        let permutation = Permutation::new(10, 1).unwrap();
        assert!(permutation.covers(9, 10, -1));
        assert!(!permutation.covers(9, 11, -1));
        assert!(!permutation.covers(-1, 1, 1));
        assert!(!permutation.covers(0, usize::MAX, i64::MAX));
        assert!(permutation.covers(100, 0, 1));
    }
}
