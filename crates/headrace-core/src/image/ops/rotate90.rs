//! Quarter turns.

use super::{OpError, expect_hwc, flip, like, same_type};
use crate::image::picture::Picture;

/// Turned counter-clockwise by `quarters` times 90 degrees, as `numpy.rot90`.
pub fn rotate90(picture: &Picture, quarters: u8) -> Result<Picture, OpError> {
    expect_hwc("Rotate90", picture)?;
    match quarters % 4 {
        0 => Ok(picture.clone()),
        2 => flip(picture, true, true),
        turns => {
            let (width, height) = (picture.width, picture.height);
            let channels = picture.color.channels();
            let pixels = same_type!(&picture.pixels, values => {
                let mut turned = Vec::with_capacity(values.len());
                for row in 0..width {
                    for column in 0..height {
                        // Counter-clockwise: the first row of the result is the last column of the source, downwards.
                        let (from_row, from_column) = if turns == 1 {
                            (column, width - 1 - row)
                        } else {
                            (height - 1 - column, row)
                        };
                        let from = (from_row * width + from_column) * channels;
                        turned.extend_from_slice(&values[from..from + channels]);
                    }
                }
                turned
            });
            Ok(like(picture, height, width, pixels))
        }
    }
}
