//! `antialias=False`: two or four neighbours, whatever the scale, in floats, as `torch.nn.functional.interpolate` with
//! `align_corners=False`.

use std::ops::Range;

use super::Filter;
use super::filter::cubic;

/// Up to four input places with their weights.
#[derive(Clone, Copy, Debug)]
pub struct Tap {
    pub places: [u32; 4],
    pub weights: [f32; 4],
    pub count: usize,
}

pub fn taps(source: usize, size: usize, filter: Filter, window: Range<usize>) -> Vec<Tap> {
    let scale = source as f32 / size as f32;
    let last = source as i64 - 1;
    let clamp = |place: i64| place.clamp(0, last) as u32;
    window
        .map(|place| {
            let position = (place as f32 + 0.5) * scale - 0.5;
            if filter == Filter::Bicubic {
                let floor = position.floor();
                let part = f64::from(position - floor);
                let first = floor as i64;
                Tap {
                    places: [
                        clamp(first - 1),
                        clamp(first),
                        clamp(first + 1),
                        clamp(first + 2),
                    ],
                    weights: [1.0 + part, part, 1.0 - part, 2.0 - part]
                        .map(|distance| cubic(distance, -0.75) as f32),
                    count: 4,
                }
            } else {
                let position = position.max(0.0);
                let first = position as i64;
                let part = position - first as f32;
                Tap {
                    places: [clamp(first), clamp(first + 1), 0, 0],
                    weights: [1.0 - part, part, 0.0, 0.0],
                    count: 2,
                }
            }
        })
        .collect()
}

/// A row along its columns, still in floats.
pub fn horizontal(input: &[u8], taps: &[Tap], channels: usize, output: &mut [f32]) {
    for (pixel, tap) in output.chunks_exact_mut(channels).zip(taps) {
        for (channel, value) in pixel.iter_mut().enumerate() {
            *value = (0..tap.count)
                .map(|at| {
                    f32::from(input[tap.places[at] as usize * channels + channel]) * tap.weights[at]
                })
                .sum();
        }
    }
}

/// The weighted sum of rows, rounded to bytes.
pub fn vertical(rows: &[&[f32]], tap: &Tap, output: &mut [u8]) {
    for (index, value) in output.iter_mut().enumerate() {
        let sum: f32 = rows
            .iter()
            .zip(tap.weights)
            .map(|(row, weight)| row[index] * weight)
            .sum();
        *value = sum.round().clamp(0.0, 255.0) as u8;
    }
}
