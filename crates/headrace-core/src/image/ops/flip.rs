//! Mirror images.

use super::{OpError, expect_hwc, like, same_type};
use crate::image::picture::Picture;

/// Mirrored left to right, top to bottom, or both (which is a half turn).
pub fn flip(picture: &Picture, horizontal: bool, vertical: bool) -> Result<Picture, OpError> {
    expect_hwc(if horizontal { "HFlip" } else { "VFlip" }, picture)?;
    let (width, height, channels) = (picture.width, picture.height, picture.color.channels());
    let pixels = same_type!(&picture.pixels, values => {
        let mut flipped = Vec::with_capacity(values.len());
        for row in 0..height {
            let row = if vertical { height - 1 - row } else { row };
            let row = &values[row * width * channels..(row + 1) * width * channels];
            if horizontal {
                for pixel in row.chunks_exact(channels).rev() {
                    flipped.extend_from_slice(pixel);
                }
            } else {
                flipped.extend_from_slice(row);
            }
        }
        flipped
    });
    Ok(like(picture, width, height, pixels))
}
