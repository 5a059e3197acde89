//! Which code makes the sums on this machine.

use super::scalar;
use super::weights::Weights;

/// A horizontal pass, ready to run on any number of rows.
pub struct Horizontal {
    pub weights: Weights,
    channels: usize,
    #[cfg(target_arch = "x86_64")]
    packed: Option<super::avx2::Packed>,
}

impl Horizontal {
    pub fn new(weights: Weights, channels: usize) -> Self {
        #[cfg(target_arch = "x86_64")]
        let packed = super::avx2::Packed::new(&weights, channels);
        Self {
            weights,
            channels,
            #[cfg(target_arch = "x86_64")]
            packed,
        }
    }

    /// How long the input of `run` must be: a kernel may look at bytes behind the row, and never uses what they say.
    pub fn reach(&self) -> usize {
        #[cfg(target_arch = "x86_64")]
        if let Some(packed) = &self.packed {
            return packed.reach();
        }
        self.weights.reach().end * self.channels
    }

    /// One output row.
    pub fn run(&self, input: &[u8], output: &mut [u8]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(packed) = &self.packed {
            return packed.run(input, output);
        }
        match self.channels {
            1 => scalar::horizontal::<1>(input, &self.weights, output),
            2 => scalar::horizontal::<2>(input, &self.weights, output),
            3 => scalar::horizontal::<3>(input, &self.weights, output),
            _ => scalar::horizontal::<4>(input, &self.weights, output),
        }
    }
}

/// One output row, the weighted sum of `rows`, each as long as `output`.
pub fn vertical(rows: &[&[u8]], weights: &[i32], output: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    let done = super::avx2::vertical(rows, weights, output);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    scalar::vertical(rows, weights, output, done);
}

#[cfg(test)]
mod tests {
    use super::super::Filter;
    use super::*;

    fn noise(length: usize) -> Vec<u8> {
        let mut state = 12345u32;
        (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Mostly extremes: they are what overflows.
                match state >> 30 {
                    0 => 0,
                    1 => 255,
                    _ => (state >> 16) as u8,
                }
            })
            .collect()
    }

    #[test]
    fn every_kernel_gives_the_bytes_of_the_scalar_one() {
        for channels in 1..=4 {
            for (source, size) in [(1, 7), (7, 1), (50, 13), (13, 50), (640, 3), (33, 33)] {
                for filter in [
                    Filter::Box,
                    Filter::Bilinear,
                    Filter::Bicubic,
                    Filter::Lanczos,
                ] {
                    let weights = Weights::new(source, 0.0, source as f32, size, filter, 0..size);
                    let input = noise(source * channels);
                    let mut expected = vec![0; size * channels];
                    match channels {
                        1 => scalar::horizontal::<1>(&input, &weights, &mut expected),
                        2 => scalar::horizontal::<2>(&input, &weights, &mut expected),
                        3 => scalar::horizontal::<3>(&input, &weights, &mut expected),
                        _ => scalar::horizontal::<4>(&input, &weights, &mut expected),
                    }
                    let mut found = vec![0; size * channels];
                    let pass = Horizontal::new(weights, channels);
                    let mut longer = input.clone();
                    longer.resize(pass.reach().max(input.len()), 170);
                    pass.run(&longer, &mut found);
                    assert_eq!(found, expected, "{channels} {source} {size} {filter:?}");
                }
            }
        }
    }

    #[test]
    fn the_vertical_kernel_gives_the_bytes_of_the_scalar_one() {
        for (source, width) in [(1, 5), (2, 100), (9, 64), (31, 97)] {
            let weights = Weights::new(source, 0.0, source as f32, 1, Filter::Lanczos, 0..1);
            let values = noise(source * width);
            let rows: Vec<&[u8]> = values.chunks_exact(width).collect();
            let (mut expected, mut found) = (vec![0; width], vec![0; width]);
            scalar::vertical(&rows, weights.of(0), &mut expected, 0);
            vertical(&rows, weights.of(0), &mut found);
            assert_eq!(found, expected, "{source} {width}");
        }
    }
}
