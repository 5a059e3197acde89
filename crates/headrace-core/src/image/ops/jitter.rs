//! Brightness, contrast, saturation and hue, as torchvision's functions on Pillow images.
//!
//! The first three are Pillow's blend of the picture with a duller one; the alpha channel is not touched.

use super::convert::luma;
use super::{OpError, expect_bytes, like};
use crate::image::picture::{Color, Picture, Pixels};

/// `dull + factor * (value - dull)`: truncated, and cut where the factor leaves 0 to 1.
#[inline]
fn blend(dull: u8, value: u8, factor: f32) -> u8 {
    let dull = i32::from(dull);
    let mixed = dull as f32 + factor * (i32::from(value) - dull) as f32;
    // A conversion to u8 truncates toward zero and saturates.
    mixed as u8
}

/// How many channels carry colour; the rest is alpha.
fn colored(op: &'static str, color: Color) -> Result<usize, OpError> {
    match color {
        Color::L | Color::La => Ok(1),
        Color::Rgb | Color::Rgba => Ok(3),
        Color::Cmyk => Err(OpError::Color {
            op,
            expected: "gray or RGB images, with or without alpha",
            found: color,
        }),
    }
}

fn change(
    op: &'static str,
    picture: &Picture,
    function: impl Fn(&mut [u8]),
) -> Result<Picture, OpError> {
    let mut bytes = expect_bytes(op, picture)?.to_vec();
    let count = colored(op, picture.color)?;
    for pixel in bytes.chunks_exact_mut(picture.color.channels()) {
        function(&mut pixel[..count]);
    }
    Ok(like(
        picture,
        picture.width,
        picture.height,
        Pixels::U8(bytes),
    ))
}

/// Blended with black.
pub fn adjust_brightness(picture: &Picture, factor: f32) -> Result<Picture, OpError> {
    let table: [u8; 256] = std::array::from_fn(|value| blend(0, value as u8, factor));
    change("ColorJitter", picture, |pixel| {
        for value in pixel {
            *value = table[usize::from(*value)];
        }
    })
}

fn gray(pixel: &[u8]) -> u8 {
    match *pixel {
        [r, g, b] => luma([r, g, b]),
        _ => pixel[0],
    }
}

/// Blended with the mean of its gray.
pub fn adjust_contrast(picture: &Picture, factor: f32) -> Result<Picture, OpError> {
    const OP: &str = "ColorJitter";
    let bytes = expect_bytes(OP, picture)?;
    let count = colored(OP, picture.color)?;
    let sum: u64 = bytes
        .chunks_exact(picture.color.channels())
        .map(|pixel| u64::from(gray(&pixel[..count])))
        .sum();
    let area = (picture.width * picture.height).max(1);
    let mean = (sum as f64 / area as f64 + 0.5) as u8;
    let table: [u8; 256] = std::array::from_fn(|value| blend(mean, value as u8, factor));
    change(OP, picture, |pixel| {
        for value in pixel {
            *value = table[usize::from(*value)];
        }
    })
}

/// Blended with its gray.
pub fn adjust_saturation(picture: &Picture, factor: f32) -> Result<Picture, OpError> {
    change("ColorJitter", picture, |pixel| {
        let dull = gray(pixel);
        for value in pixel {
            *value = blend(dull, *value, factor);
        }
    })
}

/// The hue turned by `factor` (-0.5 to 0.5) of the circle, in Pillow's 8-bit HSV; gray stays.
pub fn adjust_hue(picture: &Picture, factor: f32) -> Result<Picture, OpError> {
    // Truncated toward zero, then modulo 256.
    let turn = (f64::from(factor) * 255.0) as i32 as u8;
    change("ColorJitter", picture, |pixel| {
        if let [r, g, b] = *pixel {
            let [hue, saturation, value] = hsv([r, g, b]);
            pixel.copy_from_slice(&rgb([hue.wrapping_add(turn), saturation, value]));
        }
    })
}

fn hsv([r, g, b]: [u8; 3]) -> [u8; 3] {
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    if most == least {
        return [0, 0, most];
    }
    let range = f32::from(most - least);
    let saturation = range / f32::from(most);
    let [rc, gc, bc] = [r, g, b].map(|value| f32::from(most - value) / range);
    let hue = if r == most {
        bc - gc
    } else if g == most {
        2.0 + rc - bc
    } else {
        4.0 + gc - rc
    };
    let hue = (f64::from(hue) / 6.0 + 1.0) % 1.0;
    [(hue as f32 * 255.0) as u8, (saturation * 255.0) as u8, most]
}

fn rgb([hue, saturation, value]: [u8; 3]) -> [u8; 3] {
    if saturation == 0 {
        return [value; 3];
    }
    let place = f32::from(hue) * 6.0 / 255.0;
    let sector = place.floor();
    let part = place - sector;
    let saturation = f32::from(saturation) / 255.0;
    let light = f32::from(value);
    let dim = |share: f32| (light * (1.0 - share)).round().clamp(0.0, 255.0) as u8;
    let p = dim(saturation);
    let q = dim(saturation * part);
    let t = dim(saturation * (1.0 - part));
    match sector as u8 % 6 {
        0 => [value, t, p],
        1 => [q, value, p],
        2 => [p, value, t],
        3 => [p, q, value],
        4 => [t, p, value],
        _ => [value, p, q],
    }
}
