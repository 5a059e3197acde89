//! The sums, one at a time: the reference of every other kernel.

use super::weights::{PRECISION, Weights};

const HALF: i32 = 1 << (PRECISION - 1);

#[inline]
fn byte(sum: i32) -> u8 {
    (sum >> PRECISION).clamp(0, 255) as u8
}

/// One output row of `CHANNELS` channels from one input row.
pub fn horizontal<const CHANNELS: usize>(input: &[u8], weights: &Weights, output: &mut [u8]) {
    for (index, pixel) in output.chunks_exact_mut(CHANNELS).enumerate() {
        let mut sums = [HALF; CHANNELS];
        let start = weights.starts[index] as usize * CHANNELS;
        for (values, &weight) in input[start..].chunks_exact(CHANNELS).zip(weights.of(index)) {
            for (sum, &value) in sums.iter_mut().zip(values) {
                *sum = sum.wrapping_add(i32::from(value).wrapping_mul(weight));
            }
        }
        for (value, sum) in pixel.iter_mut().zip(sums) {
            *value = byte(sum);
        }
    }
}

/// One output row from the input rows that it is the weighted sum of.
pub fn vertical(rows: &[&[u8]], weights: &[i32], output: &mut [u8], from: usize) {
    const BLOCK: usize = 64;
    let mut start = from;
    while start < output.len() {
        let length = BLOCK.min(output.len() - start);
        let mut sums = [HALF; BLOCK];
        for (row, &weight) in rows.iter().zip(weights) {
            for (sum, &value) in sums.iter_mut().zip(&row[start..start + length]) {
                *sum = sum.wrapping_add(i32::from(value).wrapping_mul(weight));
            }
        }
        for (value, sum) in output[start..start + length].iter_mut().zip(sums) {
            *value = byte(sum);
        }
        start += length;
    }
}
