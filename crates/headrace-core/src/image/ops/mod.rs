//! Operations on pictures, one a file. Each takes a picture and gives a new one, or says what it expected.

mod affine;
mod blur;
mod convert;
mod crop;
mod error;
mod flip;
mod jitter;
mod layout;
mod pad;
mod rectangle;
pub mod resize;
mod rotate90;
mod tone;

pub use affine::{Affine, Rotate, Sampling, affine, rotate};
pub use blur::gaussian_blur;
pub use convert::{Target, convert};
pub use crop::{center_offsets, crop, erase};
pub use error::OpError;
pub use flip::flip;
pub use jitter::{adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation};
pub use layout::{has_layout, relayout};
pub use pad::{Anchor, Border, Fill, Margins, pad, pad_to_margins};
pub use rectangle::Rectangle;
pub use rotate90::rotate90;
pub use tone::{Tone, to_float};

use super::picture::{Dtype, Layout, Picture, Pixels};

/// Applies one generic expression to whichever type the values have, and wraps the result in the same type.
macro_rules! same_type {
    ($pixels:expr, $values:ident => $made:expr) => {
        match $pixels {
            $crate::image::Pixels::U8($values) => $crate::image::Pixels::U8($made),
            $crate::image::Pixels::U16($values) => $crate::image::Pixels::U16($made),
            $crate::image::Pixels::F32($values) => $crate::image::Pixels::F32($made),
        }
    };
}
pub(crate) use same_type;

/// A picture with other pixels of the same kind: colour, and what is transparent in it, stay.
pub(crate) fn like(picture: &Picture, width: usize, height: usize, pixels: Pixels) -> Picture {
    Picture {
        transparent: picture.transparent,
        ..Picture::hwc(width, height, picture.color, pixels)
    }
}

/// How many values a picture may have: 2^32, since memory that is not there would end the process.
pub(crate) fn room(
    op: &'static str,
    width: usize,
    height: usize,
    channels: usize,
) -> Result<usize, OpError> {
    width
        .checked_mul(height)
        .and_then(|area| area.checked_mul(channels))
        .filter(|&length| length <= 1 << 32)
        .ok_or_else(|| OpError::Size {
            op,
            reason: format!("an image of {width} x {height} pixels is more than 2**32 values"),
        })
}

pub(crate) fn expect_layout_hwc(op: &'static str, layout: Layout) -> Result<(), OpError> {
    match layout {
        Layout::Hwc => Ok(()),
        Layout::Chw => Err(OpError::Layout { op }),
    }
}

fn expect_hwc(op: &'static str, picture: &Picture) -> Result<(), OpError> {
    expect_layout_hwc(op, picture.layout)
}

/// Bytes, the only type that `op` takes.
pub(crate) fn expect_u8(op: &'static str, found: Dtype) -> Result<(), OpError> {
    let advice = match found {
        Dtype::U8 => return Ok(()),
        Dtype::U16 => "decode with depth=8",
        Dtype::F32 => "put it before ToFloat()",
    };
    Err(OpError::Dtype {
        op,
        expected: "uint8",
        found,
        advice,
    })
}

/// The bytes of an HWC picture of uint8, the only kind that `op` takes.
fn expect_bytes<'a>(op: &'static str, picture: &'a Picture) -> Result<&'a [u8], OpError> {
    expect_hwc(op, picture)?;
    expect_u8(op, picture.dtype())?;
    match &picture.pixels {
        Pixels::U8(bytes) => Ok(bytes),
        Pixels::U16(_) | Pixels::F32(_) => unreachable!("the type was checked"),
    }
}
