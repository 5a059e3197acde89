//! Colour conversions, with the numbers of Pillow's `convert`.

use super::{OpError, expect_bytes};
use crate::image::picture::{Color, Picture, Pixels};

/// What to convert to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Rgb,
    Rgba,
    Gray,
}

impl Target {
    pub fn color(self) -> Color {
        match self {
            Target::Rgb => Color::Rgb,
            Target::Rgba => Color::Rgba,
            Target::Gray => Color::L,
        }
    }

    pub fn op(self) -> &'static str {
        match self {
            Target::Rgb => "ToRgb",
            Target::Rgba => "ToRgba",
            Target::Gray => "ToGray",
        }
    }
}

/// A uint8 HWC picture in another colour space. CMYK goes by way of RGB.
pub fn convert(picture: &Picture, target: Target) -> Result<Picture, OpError> {
    let bytes = expect_bytes(target.op(), picture)?;
    let key = picture.transparent.map(|key| key.map(|value| value as u8));
    let mut pixels = match (picture.color, target) {
        (Color::L, Target::Rgb) => each::<1, 3>(bytes, |[l]| [l, l, l]),
        (Color::L, Target::Rgba) => each::<1, 4>(bytes, |[l]| [l, l, l, 255]),
        (Color::La, Target::Rgb) => each::<2, 3>(bytes, |[l, _]| [l, l, l]),
        (Color::La, Target::Rgba) => each::<2, 4>(bytes, |[l, a]| [l, l, l, a]),
        (Color::La, Target::Gray) => each::<2, 1>(bytes, |[l, _]| [l]),
        (Color::Rgb, Target::Rgba) => each::<3, 4>(bytes, |[r, g, b]| [r, g, b, 255]),
        (Color::Rgb, Target::Gray) => each::<3, 1>(bytes, |rgb| [luma(rgb)]),
        (Color::Rgba, Target::Rgb) => each::<4, 3>(bytes, |[r, g, b, _]| [r, g, b]),
        (Color::Rgba, Target::Gray) => each::<4, 1>(bytes, |[r, g, b, _]| [luma([r, g, b])]),
        (Color::Cmyk, Target::Rgb) => each::<4, 3>(bytes, rgb_of_cmyk),
        (Color::Cmyk, Target::Rgba) => each::<4, 4>(bytes, |cmyk| {
            let [r, g, b] = rgb_of_cmyk(cmyk);
            [r, g, b, 255]
        }),
        (Color::Cmyk, Target::Gray) => each::<4, 1>(bytes, |cmyk| [luma(rgb_of_cmyk(cmyk))]),
        (Color::L, Target::Gray) | (Color::Rgb, Target::Rgb) | (Color::Rgba, Target::Rgba) => {
            bytes.to_vec()
        }
    };
    let mut transparent = None;
    if let Some(key) = key {
        let opaque = matches!(picture.color, Color::L | Color::Rgb);
        match target {
            Target::Rgba if opaque => {
                for pixel in pixels.chunks_exact_mut(4) {
                    if pixel[..3] == key {
                        pixel[3] = 0;
                    }
                }
            }
            Target::Rgb if opaque => transparent = picture.transparent,
            Target::Gray if opaque => transparent = Some([u16::from(luma(key)); 3]),
            _ => {}
        }
    }
    Ok(Picture {
        transparent,
        ..Picture::hwc(
            picture.width,
            picture.height,
            target.color(),
            Pixels::U8(pixels),
        )
    })
}

fn each<const FROM: usize, const TO: usize>(
    bytes: &[u8],
    function: impl Fn([u8; FROM]) -> [u8; TO],
) -> Vec<u8> {
    let mut converted = vec![0; bytes.len() / FROM * TO];
    for (from, to) in bytes.chunks_exact(FROM).zip(converted.chunks_exact_mut(TO)) {
        let mut pixel = [0; FROM];
        pixel.copy_from_slice(from);
        to.copy_from_slice(&function(pixel));
    }
    converted
}

/// ITU-R 601-2 luma in 16-bit fixed point.
#[inline]
pub fn luma([r, g, b]: [u8; 3]) -> u8 {
    ((u32::from(r) * 19595 + u32::from(g) * 38470 + u32::from(b) * 7471 + 0x8000) >> 16) as u8
}

/// `a * b / 255`, rounded.
#[inline]
pub fn muldiv255(a: u8, b: u8) -> u8 {
    let product = u32::from(a) * u32::from(b) + 128;
    (((product >> 8) + product) >> 8) as u8
}

#[inline]
fn rgb_of_cmyk([c, m, y, k]: [u8; 4]) -> [u8; 3] {
    let light = 255 - k;
    [c, m, y].map(|ink| light.saturating_sub(muldiv255(ink, light)))
}
