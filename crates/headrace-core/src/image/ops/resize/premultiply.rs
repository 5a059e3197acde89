//! Colours weighted by their alpha, so that transparent pixels do not bleed into their neighbours.

use crate::image::ops::convert::muldiv255;
use crate::image::picture::Color;

/// Whether resampling weights the colour by an alpha channel.
pub fn has_alpha(color: Color) -> bool {
    matches!(color, Color::La | Color::Rgba)
}

/// Multiplies the colours of a row by alpha; `channels` counts the alpha, which comes last.
pub fn premultiply(row: &mut [u8], channels: usize) {
    if channels == 4 {
        multiply::<4>(row);
    } else {
        multiply::<2>(row);
    }
}

fn multiply<const CHANNELS: usize>(row: &mut [u8]) {
    for pixel in row.chunks_exact_mut(CHANNELS) {
        let Ok(pixel) = <&mut [u8; CHANNELS]>::try_from(pixel) else {
            continue;
        };
        let alpha = pixel[CHANNELS - 1];
        let mut weighted = pixel.map(|value| muldiv255(value, alpha));
        weighted[CHANNELS - 1] = alpha;
        *pixel = weighted;
    }
}

/// Divides them again: truncated, and cut at 255. What is all transparent stays.
pub fn unpremultiply(row: &mut [u8], channels: usize) {
    if channels == 4 {
        divide::<4>(row);
    } else {
        divide::<2>(row);
    }
}

fn divide<const CHANNELS: usize>(row: &mut [u8]) {
    for pixel in row.chunks_exact_mut(CHANNELS) {
        let Ok(pixel) = <&mut [u8; CHANNELS]>::try_from(pixel) else {
            continue;
        };
        let alpha = pixel[CHANNELS - 1];
        if alpha == 0 || alpha == 255 {
            continue;
        }
        // The quotient is at most 1/255 below a whole number, which float32 tells apart from it up to 256; the conversion
        // truncates and saturates.
        let divisor = f32::from(alpha);
        let mut plain = pixel.map(|value| (f32::from(value) * 255.0 / divisor) as u8);
        plain[CHANNELS - 1] = alpha;
        *pixel = plain;
    }
}
