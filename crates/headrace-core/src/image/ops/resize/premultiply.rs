//! Colours weighted by their alpha, so that transparent pixels do not bleed into their neighbours.

use crate::image::ops::convert::muldiv255;
use crate::image::picture::Color;

/// Whether resampling weights the colour by an alpha channel.
pub fn has_alpha(color: Color) -> bool {
    matches!(color, Color::La | Color::Rgba)
}

/// Multiplies the colours of a row by alpha; `channels` counts the alpha, which comes last.
pub fn premultiply(row: &mut [u8], channels: usize) {
    for pixel in row.chunks_exact_mut(channels) {
        let alpha = pixel[channels - 1];
        for value in &mut pixel[..channels - 1] {
            *value = muldiv255(*value, alpha);
        }
    }
}

/// Divides them again: truncated, and cut at 255.
pub fn unpremultiply(row: &mut [u8], channels: usize) {
    for pixel in row.chunks_exact_mut(channels) {
        let alpha = u32::from(pixel[channels - 1]);
        if alpha == 0 || alpha == 255 {
            continue;
        }
        for value in &mut pixel[..channels - 1] {
            *value = (255 * u32::from(*value) / alpha).min(255) as u8;
        }
    }
}
