//! Affine maps and rotations, as torchvision's functions on Pillow images.

use super::resize::Filter;
use super::{Fill, OpError, expect_bytes, flip, like, room, rotate90};
use crate::image::picture::{Color, Dtype, Picture, Pixels};

/// How a value between pixels is found, and what lies beyond the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Nearest, bilinear or bicubic.
    pub filter: Filter,
    pub fill: Fill,
}

/// Torchvision's `affine`: degrees clockwise, pixels, a factor, degrees of shear along each axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    pub angle: f64,
    pub translate: (f64, f64),
    pub scale: f64,
    pub shear: (f64, f64),
    pub center: Option<(f64, f64)>,
    pub sampling: Sampling,
}

/// Pillow's `rotate`: degrees counter-clockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotate {
    pub angle: f64,
    pub expand: bool,
    pub center: Option<(f64, f64)>,
    pub sampling: Sampling,
}

/// From a place of the result to a place of the source: `x' = m0 x + m1 y + m2`, `y' = m3 x + m4 y + m5`.
type Matrix = [f64; 6];

pub fn affine(picture: &Picture, map: &Affine) -> Result<Picture, OpError> {
    let (cx, cy) = map
        .center
        .unwrap_or((picture.width as f64 * 0.5, picture.height as f64 * 0.5));
    let (turn, sx, sy) = (
        map.angle.to_radians(),
        map.shear.0.to_radians(),
        map.shear.1.to_radians(),
    );
    // Rotation times shears, and its inverse; the determinant without the scale is one.
    let a = (turn - sy).cos() / sy.cos();
    let b = -(turn - sy).cos() * sx.tan() / sy.cos() - turn.sin();
    let c = (turn - sy).sin() / sy.cos();
    let d = -(turn - sy).sin() * sx.tan() / sy.cos() + turn.cos();
    let [m0, m1, m3, m4] = [d, -b, -c, a].map(|value| value / map.scale);
    let (x, y) = (-cx - map.translate.0, -cy - map.translate.1);
    let matrix = [m0, m1, m0 * x + m1 * y + cx, m3, m4, m3 * x + m4 * y + cy];
    let extent = (picture.width, picture.height);
    sample("Affine", picture, extent, &matrix, &map.sampling)
}

pub fn rotate(picture: &Picture, turn: &Rotate) -> Result<Picture, OpError> {
    const OP: &str = "Rotate";
    expect_bytes(OP, picture)?;
    let angle = turn.angle.rem_euclid(360.0);
    let (width, height) = (picture.width as f64, picture.height as f64);
    if turn.center.is_none() {
        if angle == 0.0 {
            return Ok(picture.clone());
        }
        if angle == 180.0 {
            return flip(picture, true, true);
        }
        if (angle == 90.0 || angle == 270.0) && (turn.expand || picture.width == picture.height) {
            return rotate90(picture, if angle == 90.0 { 1 } else { 3 });
        }
    }
    let (cx, cy) = turn.center.unwrap_or((width / 2.0, height / 2.0));
    // Right angles are to be exact.
    let exact = |value: f64| (value * 1e15).round() / 1e15;
    let radians = -angle.to_radians();
    let (cos, sin) = (exact(radians.cos()), exact(radians.sin()));
    let mut matrix = [cos, sin, 0.0, exact(-radians.sin()), cos, 0.0];
    let at = |matrix: &Matrix, x: f64, y: f64| {
        (
            matrix[0] * x + matrix[1] * y + matrix[2],
            matrix[3] * x + matrix[4] * y + matrix[5],
        )
    };
    let (x, y) = at(&matrix, -cx, -cy);
    matrix[2] = x + cx;
    matrix[5] = y + cy;
    let mut extent = (picture.width, picture.height);
    if turn.expand {
        let corners = [(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)]
            .map(|(x, y)| at(&matrix, x, y));
        let span = |values: [f64; 4]| {
            let most = values.into_iter().fold(f64::MIN, f64::max).ceil();
            let least = values.into_iter().fold(f64::MAX, f64::min).floor();
            most - least
        };
        let wide = span(corners.map(|corner| corner.0));
        let high = span(corners.map(|corner| corner.1));
        (matrix[2], matrix[5]) = at(&matrix, -(wide - width) / 2.0, -(high - height) / 2.0);
        extent = (wide as usize, high as usize);
    }
    sample(OP, picture, extent, &matrix, &turn.sampling)
}

fn sample(
    op: &'static str,
    picture: &Picture,
    (width, height): (usize, usize),
    matrix: &Matrix,
    sampling: &Sampling,
) -> Result<Picture, OpError> {
    let bytes = expect_bytes(op, picture)?;
    let channels = picture.color.channels();
    let fill: Vec<u8> = sampling
        .fill
        .channels(op, Dtype::U8, channels)?
        .iter()
        .map(|&value| value as u8)
        .collect();
    let length = room(op, width, height, channels)?;
    let mut result = Vec::with_capacity(length);
    while result.len() < length {
        result.extend_from_slice(&fill);
    }
    if bytes.is_empty() {
        return Ok(like(picture, width, height, Pixels::U8(result)));
    }
    if sampling.filter == Filter::Nearest {
        nearest(picture, bytes, (width, height), matrix, &mut result);
    } else {
        let alpha = matches!(picture.color, Color::La | Color::Rgba);
        let mut weighted = Vec::new();
        let source = if alpha {
            weighted.extend_from_slice(bytes);
            super::resize::premultiply(&mut weighted, channels);
            &weighted[..]
        } else {
            bytes
        };
        smooth(
            picture,
            source,
            (width, height),
            matrix,
            sampling.filter,
            &mut result,
        );
        if alpha {
            super::resize::unpremultiply(&mut result, channels);
        }
    }
    Ok(like(picture, width, height, Pixels::U8(result)))
}

/// Places in 16.16 fixed point where they fit, whose rounding decides between neighbours; floats where nothing turns.
fn nearest(
    picture: &Picture,
    bytes: &[u8],
    (width, height): (usize, usize),
    matrix: &Matrix,
    result: &mut [u8],
) {
    let channels = picture.color.channels();
    let (source_width, source_height) = (picture.width as i64, picture.height as i64);
    let mut put = |x: usize, y: usize, from_x: i64, from_y: i64| {
        if (0..source_width).contains(&from_x) && (0..source_height).contains(&from_y) {
            let from = (from_y * source_width + from_x) as usize * channels;
            let to = (y * width + x) * channels;
            result[to..to + channels].copy_from_slice(&bytes[from..from + channels]);
        }
    };
    let floor = |value: f64| if value < 0.0 { -1 } else { value as i64 };
    let [m0, m1, m2, m3, m4, m5] = *matrix;
    if m1 == 0.0 && m3 == 0.0 {
        let mut y_place = m5 + m4 * 0.5;
        for y in 0..height {
            let mut x_place = m2 + m0 * 0.5;
            for x in 0..width {
                put(x, y, floor(x_place), floor(y_place));
                x_place += m0;
            }
            y_place += m4;
        }
        return;
    }
    let (w, h) = (width as f64, height as f64);
    let fits = [(0.0, 0.0), (w, h), (0.0, h), (w, 0.0)]
        .iter()
        .all(|&(x, y)| {
            (m0 * x + m1 * y + m2).abs() < 32768.0 && (m3 * x + m4 * y + m5).abs() < 32768.0
        });
    if fits {
        let fixed = |value: f64| (value * 65536.0 + 0.5).floor() as i64;
        let steps = [m0, m1, m3, m4].map(fixed);
        let (mut row_x, mut row_y) = (
            fixed(m2 + m0 * 0.5 + m1 * 0.5),
            fixed(m5 + m3 * 0.5 + m4 * 0.5),
        );
        for y in 0..height {
            let (mut at_x, mut at_y) = (row_x, row_y);
            for x in 0..width {
                put(x, y, at_x >> 16, at_y >> 16);
                at_x += steps[0];
                at_y += steps[2];
            }
            row_x += steps[1];
            row_y += steps[3];
        }
        return;
    }
    for y in 0..height {
        let (mut x_place, mut y_place) = (
            m2 + m0 * 0.5 + m1 * (y as f64 + 0.5),
            m5 + m3 * 0.5 + m4 * (y as f64 + 0.5),
        );
        for x in 0..width {
            put(x, y, floor(x_place), floor(y_place));
            x_place += m0;
            y_place += m3;
        }
    }
}

/// Two by two or four by four neighbours of each place inside the source; the borders repeat.
fn smooth(
    picture: &Picture,
    bytes: &[u8],
    (width, height): (usize, usize),
    matrix: &Matrix,
    filter: Filter,
    result: &mut [u8],
) {
    let channels = picture.color.channels();
    let (source_width, source_height) = (picture.width as f64, picture.height as f64);
    let reach: std::ops::Range<i64> = if filter == Filter::Bicubic {
        -1..3
    } else {
        0..2
    };
    let clamp = |place: i64, length: usize| place.clamp(0, length as i64 - 1) as usize;
    for y in 0..height {
        for x in 0..width {
            let (x_mid, y_mid) = (x as f64 + 0.5, y as f64 + 0.5);
            let from_x = matrix[0] * x_mid + matrix[1] * y_mid + matrix[2];
            let from_y = matrix[3] * x_mid + matrix[4] * y_mid + matrix[5];
            if !(0.0..source_width).contains(&from_x) || !(0.0..source_height).contains(&from_y) {
                continue;
            }
            let (from_x, from_y) = (from_x - 0.5, from_y - 0.5);
            let (left, top) = (from_x.floor(), from_y.floor());
            let across = weights(filter, from_x - left);
            let down = weights(filter, from_y - top);
            let to = (y * width + x) * channels;
            for channel in 0..channels {
                let mut sum = 0.0;
                for (row, &weight_y) in reach.clone().zip(&down) {
                    let row = clamp(top as i64 + row, picture.height) * picture.width;
                    let mut line = 0.0;
                    for (column, &weight_x) in reach.clone().zip(&across) {
                        let column = clamp(left as i64 + column, picture.width);
                        line += weight_x * f64::from(bytes[(row + column) * channels + channel]);
                    }
                    sum += weight_y * line;
                }
                // Truncated and saturated, as Pillow's conversion; a hair is added for sums that are whole but for rounding.
                result[to + channel] = (sum + 1e-9) as u8;
            }
        }
    }
}

fn weights(filter: Filter, part: f64) -> [f64; 4] {
    if filter == Filter::Bicubic {
        // The cubic with a = -1 that Pillow's transforms use, other than its resize.
        let (square, cube) = (part * part, part * part * part);
        [
            -part + 2.0 * square - cube,
            1.0 - 2.0 * square + cube,
            part + square - cube,
            -square + cube,
        ]
    } else {
        [1.0 - part, part, 0.0, 0.0]
    }
}
