//! The sums with AVX2.
//!
//! `vpmaddwd` multiplies 16-bit numbers and adds neighbours into 32 bits, twice as many as a 32-bit multiplication. A
//! weight has 24 bits, so it is split as `high * 2^16 + low` with `low` a signed 16-bit number, and the two sums are put
//! together at the end. All additions wrap: the true total fits in 32 bits, so its residue is the total itself.
//!
//! # Soundness
//!
//! Every function that needs the instructions is called behind `available()`. `Packed::run` and `vertical` check the
//! lengths that the loads and stores rely on before they enter the unsafe block:
//!
//! - a horizontal load reads 16 bytes from `(start + 4 g) * channels`, `g < groups`. `Packed::new` keeps `reach`, the
//!   largest end of such a load; `run` asserts that the input is that long.
//! - a horizontal store writes 4 bytes at `index * channels` with `index < count`, through a checked slice.
//! - a vertical block begins at most 32 bytes before the end of `output`, and every row is asserted to be as long.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::weights::{PRECISION, Weights};

pub fn available() -> bool {
    is_x86_feature_detected!("avx2")
}

const HALF: i32 = 1 << (PRECISION - 1);

/// The weight's high and low part: `weight == high * 65536 + low`.
fn split(weight: i32) -> (i16, i16) {
    let low = weight as i16;
    // Weights are below 2^24 in size, so the difference's upper half fits in far less than 16 bits.
    (((weight - i32::from(low)) >> 16) as i16, low)
}

fn pair(first: i16, second: i16) -> i32 {
    (i32::from(second) << 16) | (i32::from(first) & 0xffff)
}

/// The weights of a horizontal pass, in the order in which the kernel reads them.
///
/// Two outputs are made at once, one in each half of a register. With two channels or more, taps come in groups of four,
/// and a group is four vectors of eight pairs: low and high parts of taps 0 and 1, then of taps 2 and 3. With one channel a
/// group is eight taps, two vectors: their low and their high parts.
pub struct Packed {
    starts: Vec<[usize; 2]>,
    weights: Vec<[i32; 8]>,
    groups: usize,
    count: usize,
    channels: usize,
    reach: usize,
}

impl Packed {
    /// None where the machine or the number of channels has no such kernel.
    pub fn new(weights: &Weights, channels: usize) -> Option<Self> {
        if !available() {
            return None;
        }
        if channels == 1 {
            return Some(Self::gray(weights));
        }
        let count = weights.starts.len();
        let groups = weights.taps.div_ceil(4);
        let mut packed = Vec::with_capacity(count.div_ceil(2) * groups * 4);
        let mut starts = Vec::with_capacity(count.div_ceil(2));
        let mut reach = 0;
        for index in (0..count).step_by(2) {
            let twin = (index + 1).min(count - 1);
            starts.push([index, twin].map(|index| weights.starts[index] as usize * channels));
            for start in starts[starts.len() - 1] {
                reach = reach.max(start + (groups - 1) * 4 * channels + 16);
            }
            let tap =
                |index: usize, tap: usize| split(weights.of(index).get(tap).copied().unwrap_or(0));
            for first in (0..groups * 4).step_by(2) {
                let mut vectors = [[0; 8]; 2];
                for (lane, output) in [index, twin].into_iter().enumerate() {
                    let (high, low) = tap(output, first);
                    let (next_high, next_low) = tap(output, first + 1);
                    vectors[0][lane * 4..lane * 4 + 4].fill(pair(low, next_low));
                    vectors[1][lane * 4..lane * 4 + 4].fill(pair(high, next_high));
                }
                packed.extend(vectors);
            }
        }
        Some(Self {
            starts,
            weights: packed,
            groups,
            count,
            channels,
            reach,
        })
    }

    fn gray(weights: &Weights) -> Self {
        let count = weights.starts.len();
        let groups = weights.taps.div_ceil(8);
        let mut packed = Vec::with_capacity(count.div_ceil(2) * groups * 2);
        let mut starts = Vec::with_capacity(count.div_ceil(2));
        let mut reach = 0;
        for index in (0..count).step_by(2) {
            let twins = [index, (index + 1).min(count - 1)];
            starts.push(twins.map(|index| weights.starts[index] as usize));
            for start in starts[starts.len() - 1] {
                reach = reach.max(start + groups * 8);
            }
            let tap =
                |index: usize, tap: usize| split(weights.of(index).get(tap).copied().unwrap_or(0));
            for first in (0..groups * 8).step_by(8) {
                let mut vectors = [[0; 8]; 2];
                for place in 0..8 {
                    let (output, at) = (twins[place / 4], first + place % 4 * 2);
                    let (high, low) = tap(output, at);
                    let (next_high, next_low) = tap(output, at + 1);
                    vectors[0][place] = pair(low, next_low);
                    vectors[1][place] = pair(high, next_high);
                }
                packed.extend(vectors);
            }
        }
        Self {
            starts,
            weights: packed,
            groups,
            count,
            channels: 1,
            reach,
        }
    }

    pub fn reach(&self) -> usize {
        self.reach
    }

    pub fn run(&self, input: &[u8], output: &mut [u8]) {
        assert!(input.len() >= self.reach && output.len() == self.count * self.channels);
        // SAFETY: `new` made sure of AVX2, the assertion of the lengths.
        unsafe {
            match self.channels {
                1 => self.gray_row(input, output),
                2 => self.row::<2>(input, output),
                3 => self.row::<3>(input, output),
                _ => self.row::<4>(input, output),
            }
        }
    }

    /// # Safety
    /// AVX2; `input.len() >= self.reach`; `output.len() == self.count`; `self.channels == 1`.
    #[target_feature(enable = "avx2")]
    unsafe fn gray_row(&self, input: &[u8], output: &mut [u8]) {
        // SAFETY: the caller's promise: loads of 8 bytes end at `start + 8 * groups`, at most `reach`.
        unsafe {
            let mut weights = self.weights.as_ptr().cast::<__m256i>();
            let source = input.as_ptr();
            let half = _mm256_set_epi32(0, 0, 0, HALF, 0, 0, 0, HALF);
            for (twins, starts) in self.starts.iter().enumerate() {
                let mut low = half;
                let mut high = _mm256_setzero_si256();
                for group in 0..self.groups {
                    let one = _mm_loadl_epi64(source.add(starts[0] + group * 8).cast());
                    let two = _mm_loadl_epi64(source.add(starts[1] + group * 8).cast());
                    let pixels = _mm256_cvtepu8_epi16(_mm_unpacklo_epi64(one, two));
                    low = _mm256_add_epi32(
                        low,
                        _mm256_madd_epi16(pixels, _mm256_loadu_si256(weights)),
                    );
                    high = _mm256_add_epi32(
                        high,
                        _mm256_madd_epi16(pixels, _mm256_loadu_si256(weights.add(1))),
                    );
                    weights = weights.add(2);
                }
                let sum = _mm256_add_epi32(low, _mm256_slli_epi32::<16>(high));
                let sum = _mm256_hadd_epi32(sum, sum);
                let sum = _mm256_hadd_epi32(sum, sum);
                let sum = _mm256_srai_epi32::<{ PRECISION as i32 }>(sum);
                let words = _mm256_packs_epi32(sum, sum);
                let bytes = _mm256_packus_epi16(words, words);
                let pixels = [
                    _mm256_extract_epi32::<0>(bytes) as u8,
                    _mm256_extract_epi32::<4>(bytes) as u8,
                ];
                for (place, pixel) in output[twins * 2..].iter_mut().zip(pixels) {
                    *place = pixel;
                }
            }
        }
    }

    /// # Safety
    /// AVX2; `input.len() >= self.reach`; `output.len() == self.count * CHANNELS`; `self.channels == CHANNELS`.
    #[target_feature(enable = "avx2")]
    unsafe fn row<const CHANNELS: usize>(&self, input: &[u8], output: &mut [u8]) {
        // SAFETY: the caller's promise, and the lemmas at the top of the file.
        unsafe {
            let (first, second) = masks::<CHANNELS>();
            let mut weights = self.weights.as_ptr().cast::<__m256i>();
            let source = input.as_ptr();
            for (twins, starts) in self.starts.iter().enumerate() {
                let mut low = _mm256_set1_epi32(HALF);
                let mut high = _mm256_setzero_si256();
                for group in 0..self.groups {
                    let ahead = group * 4 * CHANNELS;
                    let one = _mm_loadu_si128(source.add(starts[0] + ahead).cast());
                    let two = _mm_loadu_si128(source.add(starts[1] + ahead).cast());
                    let pixels = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(one), two);
                    let front = _mm256_shuffle_epi8(pixels, first);
                    let back = _mm256_shuffle_epi8(pixels, second);
                    low = _mm256_add_epi32(
                        low,
                        _mm256_madd_epi16(front, _mm256_loadu_si256(weights)),
                    );
                    high = _mm256_add_epi32(
                        high,
                        _mm256_madd_epi16(front, _mm256_loadu_si256(weights.add(1))),
                    );
                    low = _mm256_add_epi32(
                        low,
                        _mm256_madd_epi16(back, _mm256_loadu_si256(weights.add(2))),
                    );
                    high = _mm256_add_epi32(
                        high,
                        _mm256_madd_epi16(back, _mm256_loadu_si256(weights.add(3))),
                    );
                    weights = weights.add(4);
                }
                let sum = _mm256_add_epi32(low, _mm256_slli_epi32::<16>(high));
                let sum = _mm256_srai_epi32::<{ PRECISION as i32 }>(sum);
                let words = _mm256_packs_epi32(sum, sum);
                let bytes = _mm256_packus_epi16(words, words);
                let pixels = [
                    _mm256_extract_epi32::<0>(bytes).to_le_bytes(),
                    _mm256_extract_epi32::<4>(bytes).to_le_bytes(),
                ];
                let at = twins * 2 * CHANNELS;
                // The fourth byte of three channels is overwritten by the pixel to the right; the last two go whole.
                if let Some(place) = output.get_mut(at..at + CHANNELS + 4) {
                    place[..4].copy_from_slice(&pixels[0]);
                    place[CHANNELS..].copy_from_slice(&pixels[1]);
                } else {
                    for (place, pixel) in output[at..].chunks_exact_mut(CHANNELS).zip(&pixels) {
                        place.copy_from_slice(&pixel[..CHANNELS]);
                    }
                }
            }
        }
    }
}

/// Shuffles that make 16-bit pairs of the same channel of pixels 0 and 1, and of pixels 2 and 3.
///
/// # Safety
/// AVX2.
#[target_feature(enable = "avx2")]
unsafe fn masks<const CHANNELS: usize>() -> (__m256i, __m256i) {
    let mut masks = [[-1i8; 32]; 2];
    for (pair, mask) in masks.iter_mut().enumerate() {
        for lane in 0..2 {
            for channel in 0..CHANNELS {
                let from = pair * 2 * CHANNELS + channel;
                mask[lane * 16 + channel * 4] = from as i8;
                mask[lane * 16 + channel * 4 + 2] = (from + CHANNELS) as i8;
            }
        }
    }
    // SAFETY: 32 bytes are read from each of two arrays of 32 bytes.
    unsafe {
        (
            _mm256_loadu_si256(masks[0].as_ptr().cast()),
            _mm256_loadu_si256(masks[1].as_ptr().cast()),
        )
    }
}

/// Makes an output row of at least 32 bytes; gives how many bytes were made, none of a shorter one.
pub fn vertical(rows: &[&[u8]], weights: &[i32], output: &mut [u8]) -> usize {
    if !available() {
        return 0;
    }
    assert!(rows.len() == weights.len() && rows.iter().all(|row| row.len() >= output.len()));
    // SAFETY: AVX2 is there, and the lengths are as asserted.
    unsafe { blocks(rows, weights, output) }
}

/// # Safety
/// AVX2; as many weights as rows; every row at least as long as `output`.
#[target_feature(enable = "avx2")]
unsafe fn blocks(rows: &[&[u8]], weights: &[i32], output: &mut [u8]) -> usize {
    // SAFETY: a block begins at most 32 bytes before the end of `output`, which no row is shorter than.
    unsafe {
        let zero = _mm256_setzero_si256();
        if output.len() < 32 {
            return 0;
        }
        let last = output.len() - 32;
        let mut at = 0;
        loop {
            let mut low = [_mm256_set1_epi32(HALF); 4];
            let mut high = [zero; 4];
            let mut tap = 0;
            while tap < rows.len() {
                let one = _mm256_loadu_si256(rows[tap].as_ptr().add(at).cast());
                let (two, next) = if tap + 1 < rows.len() {
                    let two = _mm256_loadu_si256(rows[tap + 1].as_ptr().add(at).cast());
                    (two, weights[tap + 1])
                } else {
                    (zero, 0)
                };
                let (first, second) = (split(weights[tap]), split(next));
                let lows = _mm256_set1_epi32(pair(first.1, second.1));
                let highs = _mm256_set1_epi32(pair(first.0, second.0));
                let front = _mm256_unpacklo_epi8(one, two);
                let back = _mm256_unpackhi_epi8(one, two);
                let pairs = [
                    _mm256_unpacklo_epi8(front, zero),
                    _mm256_unpackhi_epi8(front, zero),
                    _mm256_unpacklo_epi8(back, zero),
                    _mm256_unpackhi_epi8(back, zero),
                ];
                for part in 0..4 {
                    low[part] = _mm256_add_epi32(low[part], _mm256_madd_epi16(pairs[part], lows));
                    high[part] =
                        _mm256_add_epi32(high[part], _mm256_madd_epi16(pairs[part], highs));
                }
                tap += 2;
            }
            let mut sums = [zero; 4];
            for part in 0..4 {
                let sum = _mm256_add_epi32(low[part], _mm256_slli_epi32::<16>(high[part]));
                sums[part] = _mm256_srai_epi32::<{ PRECISION as i32 }>(sum);
            }
            // The unpacking and the packing both work within halves, so the order comes out as it went in.
            let words = [
                _mm256_packs_epi32(sums[0], sums[1]),
                _mm256_packs_epi32(sums[2], sums[3]),
            ];
            let bytes = _mm256_packus_epi16(words[0], words[1]);
            _mm256_storeu_si256(output.as_mut_ptr().add(at).cast(), bytes);
            if at == last {
                return output.len();
            }
            // The last block overlaps the one before it, whose bytes come out the same.
            at = (at + 32).min(last);
        }
    }
}
