//! Parts of a picture: cut out, or filled.

use super::{OpError, Rectangle, expect_hwc, like, room, same_type};
use crate::image::picture::{Picture, Pixels};

/// The part whose upper left corner is (`top`, `left`); what lies beyond the picture is zero.
pub fn crop(
    picture: &Picture,
    top: i64,
    left: i64,
    height: usize,
    width: usize,
) -> Result<Picture, OpError> {
    expect_hwc("Crop", picture)?;
    let channels = picture.color.channels();
    let length = room("Crop", width, height, channels)?;
    let pixels = same_type!(&picture.pixels, values => {
        let mut part = vec![Default::default(); length];
        copy(values, picture, top, left, height, width, &mut part);
        part
    });
    Ok(like(picture, width, height, pixels))
}

fn copy<T: Copy>(
    values: &[T],
    picture: &Picture,
    top: i64,
    left: i64,
    height: usize,
    width: usize,
    part: &mut [T],
) {
    let channels = picture.color.channels();
    let columns = overlap(left, width, picture.width);
    let rows = overlap(top, height, picture.height);
    if columns.is_empty() {
        return;
    }
    let length = columns.len() * channels;
    for row in rows {
        // Both sums are inside by the choice of `rows` and `columns`.
        let source_row = (top + row as i64) as usize;
        let source_column = (left + columns.start as i64) as usize;
        let from = (source_row * picture.width + source_column) * channels;
        let to = (row * width + columns.start) * channels;
        part[to..to + length].copy_from_slice(&values[from..from + length]);
    }
}

/// The places `i` of `0..length` for which `start + i` lies in `0..limit`.
fn overlap(start: i64, length: usize, limit: usize) -> std::ops::Range<usize> {
    let first = start.saturating_neg().max(0) as usize;
    let end = (limit as i64).saturating_sub(start).max(0) as usize;
    first.min(length)..end.min(length).max(first.min(length))
}

/// Where a central part of `size` begins in `extent`, as torchvision rounds it (half to even).
pub fn center_offsets(extent: usize, size: usize) -> i64 {
    let double = extent as i64 - size as i64;
    if double < 0 {
        // torchvision pads first, with the smaller half before; the part then begins at the padding.
        return -(-double / 2);
    }
    let half = double / 2;
    half + i64::from(double % 2 == 1 && half % 2 == 1)
}

/// Overwrites `area` with what `draw` gives for each pixel, one value a channel that the type can hold.
pub fn erase(picture: &mut Picture, area: Rectangle, mut draw: impl FnMut() -> Vec<f32>) {
    let (width, channels) = (picture.width, picture.color.channels());
    for row in area.top..area.top + area.height {
        for column in area.left..area.left + area.width {
            let from = (row * width + column) * channels;
            for (place, value) in (from..from + channels).zip(draw()) {
                match &mut picture.pixels {
                    Pixels::U8(all) => all[place] = value as u8,
                    Pixels::U16(all) => all[place] = value as u16,
                    Pixels::F32(all) => all[place] = value,
                }
            }
        }
    }
}
