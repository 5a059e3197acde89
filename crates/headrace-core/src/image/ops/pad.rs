//! Wider borders.

use super::{OpError, expect_hwc, like, room};
use crate::image::picture::{Dtype, Picture, Pixels};

/// How many pixels each side gains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Margins {
    pub left: usize,
    pub top: usize,
    pub right: usize,
    pub bottom: usize,
}

/// What the new pixels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    Constant,
    Edge,
    /// Mirrored without the border's own pixels.
    Reflect,
    /// Mirrored with them.
    Symmetric,
}

/// One value for all channels, or one for each.
#[derive(Clone, Debug, PartialEq)]
pub struct Fill(pub Vec<f64>);

impl Fill {
    /// One value a channel, each of which the type can hold.
    pub fn channels(
        &self,
        op: &'static str,
        dtype: Dtype,
        channels: usize,
    ) -> Result<Vec<f64>, OpError> {
        let values = match self.0.len() {
            1 => vec![self.0[0]; channels],
            length if length == channels => self.0.clone(),
            length => {
                return Err(OpError::Channels {
                    op,
                    expected: length,
                    found: channels,
                });
            }
        };
        let maximum = match dtype {
            Dtype::U8 => 255.0,
            Dtype::U16 => 65535.0,
            Dtype::F32 => return Ok(values),
        };
        match values
            .iter()
            .find(|&&value| !(0.0..=maximum).contains(&value) || value.fract() != 0.0)
        {
            Some(&value) => Err(OpError::Fill { op, value, dtype }),
            None => Ok(values),
        }
    }
}

/// The picture with wider borders.
pub fn pad(
    picture: &Picture,
    margins: Margins,
    border: Border,
    fill: &Fill,
) -> Result<Picture, OpError> {
    const OP: &str = "Pad";
    expect_hwc(OP, picture)?;
    let channels = picture.color.channels();
    let fill = fill.channels(OP, picture.dtype(), channels)?;
    let width = margins
        .left
        .saturating_add(picture.width)
        .saturating_add(margins.right);
    let height = margins
        .top
        .saturating_add(picture.height)
        .saturating_add(margins.bottom);
    room(OP, width, height, channels)?;
    let columns = sources(width, margins.left, picture.width, border);
    let rows = sources(height, margins.top, picture.height, border);
    let pixels = match &picture.pixels {
        Pixels::U8(values) => {
            let fill: Vec<u8> = fill.iter().map(|&value| value as u8).collect();
            Pixels::U8(fill_from(values, picture.width, &rows, &columns, &fill))
        }
        Pixels::U16(values) => {
            let fill: Vec<u16> = fill.iter().map(|&value| value as u16).collect();
            Pixels::U16(fill_from(values, picture.width, &rows, &columns, &fill))
        }
        Pixels::F32(values) => {
            let fill: Vec<f32> = fill.iter().map(|&value| value as f32).collect();
            Pixels::F32(fill_from(values, picture.width, &rows, &columns, &fill))
        }
    };
    Ok(like(picture, width, height, pixels))
}

/// Which source place each place of an axis shows; None for the fill.
fn sources(length: usize, before: usize, extent: usize, border: Border) -> Vec<Option<usize>> {
    let last = extent as i64 - 1;
    (0..length as i64)
        .map(|place| {
            let place = place - before as i64;
            if (0..=last).contains(&place) {
                return Some(place as usize);
            }
            let mirrored = |period: i64, turn: i64| {
                let place = place.rem_euclid(period);
                if place > last { turn - place } else { place }
            };
            match border {
                Border::Constant => None,
                Border::Edge => Some(place.clamp(0, last) as usize),
                Border::Reflect if last == 0 => Some(0),
                Border::Reflect => Some(mirrored(2 * last, 2 * last) as usize),
                Border::Symmetric => Some(mirrored(2 * last + 2, 2 * last + 1) as usize),
            }
        })
        .collect()
}

fn fill_from<T: Copy>(
    values: &[T],
    width: usize,
    rows: &[Option<usize>],
    columns: &[Option<usize>],
    fill: &[T],
) -> Vec<T> {
    let channels = fill.len();
    let mut padded = Vec::with_capacity(rows.len() * columns.len() * channels);
    for &row in rows {
        for &column in columns {
            match row.zip(column) {
                Some((row, column)) => {
                    let from = (row * width + column) * channels;
                    padded.extend_from_slice(&values[from..from + channels]);
                }
                None => padded.extend_from_slice(fill),
            }
        }
    }
    padded
}

/// Where the picture stands in the padded one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    TopLeft,
    Center,
}

/// The margins that make a picture at least `width` by `height`; with `Center` the odd pixel is right and below.
pub fn pad_to_margins(
    (picture_width, picture_height): (usize, usize),
    (width, height): (usize, usize),
    anchor: Anchor,
) -> Margins {
    let columns = width.saturating_sub(picture_width);
    let rows = height.saturating_sub(picture_height);
    let (left, top) = match anchor {
        Anchor::TopLeft => (0, 0),
        Anchor::Center => (columns / 2, rows / 2),
    };
    Margins {
        left,
        top,
        right: columns - left,
        bottom: rows - top,
    }
}
