//! The order of the axes.

use super::{OpError, same_type};
use crate::image::picture::{Layout, Picture};

/// What a picture that has the layout already is told.
pub fn has_layout(layout: Layout) -> OpError {
    let op = match layout {
        Layout::Hwc => "ToHwc",
        Layout::Chw => "ToChw",
    };
    OpError::Size {
        op,
        reason: format!("the image is in {} already", layout.name()),
    }
}

/// The same values with the axes in `layout`; a picture that has it already is refused.
pub fn relayout(picture: &Picture, layout: Layout) -> Result<Picture, OpError> {
    if picture.layout == layout {
        return Err(has_layout(layout));
    }
    let (area, channels) = (picture.width * picture.height, picture.color.channels());
    let pixels = same_type!(&picture.pixels, values => match layout {
        Layout::Chw => transpose(values, area, channels),
        Layout::Hwc => transpose(values, channels, area),
    });
    Ok(Picture {
        layout,
        pixels,
        ..*picture
    })
}

/// A matrix of `rows` by `columns`, turned about its diagonal.
fn transpose<T: Copy>(values: &[T], rows: usize, columns: usize) -> Vec<T> {
    let mut turned = Vec::with_capacity(values.len());
    for column in 0..columns {
        turned.extend((0..rows).map(|row| values[row * columns + column]));
    }
    turned
}
