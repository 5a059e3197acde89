//! The filter that picks: for each output place one input place, or none.

use std::ops::Range;

/// Pillow's places. The position is summed up step by step, whose rounding decides between neighbours.
pub fn places(
    source: usize,
    from: f32,
    to: f32,
    size: usize,
    window: Range<usize>,
) -> Vec<Option<u32>> {
    let step = f64::from(to - from) / size as f64;
    let mut position = f64::from(from) + step * 0.5;
    let mut places = Vec::with_capacity(window.len());
    for place in 0..window.end {
        if window.contains(&place) {
            let inside = position >= 0.0 && (position as usize) < source;
            places.push(inside.then_some(position as u32));
        }
        position += step;
    }
    places
}

/// Torch's places for `mode="nearest"`: in float32, from the left edge.
pub fn torch_places(source: usize, size: usize, window: Range<usize>) -> Vec<Option<u32>> {
    let scale = source as f32 / size as f32;
    window
        .map(|place| Some(((place as f32 * scale) as u32).min(source as u32 - 1)))
        .collect()
}
