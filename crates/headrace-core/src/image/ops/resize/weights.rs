//! The weights of one axis.

use std::ops::Range;

use super::Filter;

/// Bits behind the point: 8 of the 32 are the pixel's, 2 are room for sums beyond it.
pub const PRECISION: u32 = 32 - 8 - 2;

/// For each output place the first input place, how many there are, and their weights.
#[derive(Clone, Debug)]
pub struct Weights {
    /// First input place of each output place.
    pub starts: Vec<u32>,
    /// Number of input places of each output place, at most `taps`.
    pub counts: Vec<u32>,
    /// `taps` weights an output place, zero beyond its count.
    pub fixed: Vec<i32>,
    pub taps: usize,
}

impl Weights {
    /// Weights for the places `window` of an axis of `size` places that shows `from..to` of `source` input places.
    pub fn new(
        source: usize,
        from: f32,
        to: f32,
        size: usize,
        filter: Filter,
        window: Range<usize>,
    ) -> Self {
        let scale = f64::from(to - from) / size as f64;
        let stretch = scale.max(1.0);
        let support = filter.support() * stretch;
        let inverse = 1.0 / stretch;
        let mut starts = Vec::with_capacity(window.len());
        let mut counts = Vec::with_capacity(window.len());
        let mut taps = 1;
        let centre = |place: usize| f64::from(from) + (place as f64 + 0.5) * scale;
        for place in window.clone() {
            // Truncation toward zero, then the borders.
            let start = ((centre(place) - support + 0.5) as i64).max(0);
            let end = ((centre(place) + support + 0.5) as i64).min(source as i64);
            starts.push(start as u32);
            counts.push((end - start).max(0) as u32);
            taps = taps.max((end - start).max(0) as usize);
        }
        let mut fixed = vec![0; taps * window.len()];
        let mut exact = Vec::with_capacity(taps);
        for (index, place) in window.enumerate() {
            exact.clear();
            let mut sum = 0.0;
            for tap in 0..counts[index] {
                let input = f64::from(starts[index] + tap);
                let weight = filter.weight((input - centre(place) + 0.5) * inverse);
                sum += weight;
                exact.push(weight);
            }
            for (fixed, weight) in fixed[index * taps..].iter_mut().zip(&exact) {
                let weight = if sum == 0.0 { *weight } else { weight / sum };
                let half = if weight < 0.0 { -0.5 } else { 0.5 };
                *fixed = (half + weight * f64::from(1u32 << PRECISION)) as i32;
            }
        }
        Self {
            starts,
            counts,
            fixed,
            taps,
        }
    }

    /// The input places that any output place looks at.
    pub fn reach(&self) -> Range<usize> {
        let start = self.starts.first().map_or(0, |&start| start as usize);
        let end = self
            .starts
            .iter()
            .zip(&self.counts)
            .map(|(&start, &count)| (start + count) as usize)
            .max();
        start..end.unwrap_or(start).max(start)
    }

    /// The weights of output place `index`, without the padding.
    pub fn of(&self, index: usize) -> &[i32] {
        let start = index * self.taps;
        &self.fixed[start..start + self.counts[index] as usize]
    }
}
