//! Gaussian blur, as torchvision's: a kernel of odd size along each axis, in float32, with reflected borders.

use super::{OpError, expect_bytes, like};
use crate::image::picture::{Picture, Pixels};

/// A Gaussian whose ends lie where torchvision puts them: `size` steps over `(size - 1) / sqrt(2)`.
fn kernel(size: usize, sigma: f32) -> Vec<f32> {
    let limit = (size - 1) as f32 / (2.0 * 2f32.sqrt());
    let step = if size > 1 {
        2.0 * limit / (size - 1) as f32
    } else {
        0.0
    };
    let weights: Vec<f32> = (0..size)
        .map(|place| {
            let distance = (-limit + step * place as f32) / sigma;
            (-distance * distance).exp()
        })
        .collect();
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Places of an axis with `half` reflected ones on either side.
fn reflected(length: usize, half: usize) -> Vec<usize> {
    let last = length as i64 - 1;
    (-(half as i64)..length as i64 + half as i64)
        .map(|place| {
            if last == 0 {
                return 0;
            }
            let place = place.rem_euclid(2 * last);
            place.min(2 * last - place) as usize
        })
        .collect()
}

/// The picture blurred with kernels of `width` by `height` (odd) and the deviations of the two directions.
pub fn gaussian_blur(
    picture: &Picture,
    (width, height): (usize, usize),
    (sigma_x, sigma_y): (f32, f32),
) -> Result<Picture, OpError> {
    let bytes = expect_bytes("GaussianBlur", picture)?;
    if bytes.is_empty() {
        return Ok(picture.clone());
    }
    let channels = picture.color.channels();
    let length = picture.width * channels;
    let (across, down) = (kernel(width, sigma_x), kernel(height, sigma_y));
    let columns = reflected(picture.width, width / 2);
    let rows = reflected(picture.height, height / 2);
    let mut wide = vec![0f32; columns.len() * channels];
    let mut half_done = vec![0f32; picture.height * length];
    for (row, result) in bytes
        .chunks_exact(length)
        .zip(half_done.chunks_exact_mut(length))
    {
        for (pixel, &column) in wide.chunks_exact_mut(channels).zip(&columns) {
            for (value, &byte) in pixel.iter_mut().zip(&row[column * channels..]) {
                *value = f32::from(byte);
            }
        }
        for (tap, &weight) in across.iter().enumerate() {
            for (value, &source) in result.iter_mut().zip(&wide[tap * channels..]) {
                *value += weight * source;
            }
        }
    }
    let mut blurred = Vec::with_capacity(bytes.len());
    let mut line = vec![0f32; length];
    for row in 0..picture.height {
        line.fill(0.0);
        for (tap, &weight) in down.iter().enumerate() {
            let from = rows[row + tap] * length;
            for (value, &source) in line.iter_mut().zip(&half_done[from..from + length]) {
                *value += weight * source;
            }
        }
        // Torch rounds half to even.
        blurred.extend(line.iter().map(|value| value.round_ties_even() as u8));
    }
    Ok(like(
        picture,
        picture.width,
        picture.height,
        Pixels::U8(blurred),
    ))
}
