//! Pictures as PNG files: what `save` writes and a notebook shows.

use super::picture::{Color, Layout, Picture, Pixels};
use super::stack::Batch;

/// Why a picture could not be written.
#[derive(Debug, thiserror::Error)]
#[error("PNG: {0}")]
pub struct EncodeError(#[from] png::EncodingError);

/// A PNG file. uint8 and uint16 keep their values (CMYK becomes RGB, as Pillow converts it); float32 is shown: 0 to 1 as
/// 0 to 255, other ranges stretched to that.
pub fn to_png(picture: &Picture) -> Result<Vec<u8>, EncodeError> {
    let (depth, bytes) = match &picture.pixels {
        Pixels::U8(values) => (png::BitDepth::Eight, interleaved(values, picture)),
        Pixels::U16(values) => (
            png::BitDepth::Sixteen,
            interleaved(values, picture)
                .iter()
                .flat_map(|value| value.to_be_bytes())
                .collect(),
        ),
        Pixels::F32(values) => (png::BitDepth::Eight, shown(&interleaved(values, picture))),
    };
    let (color, bytes) = match picture.color {
        Color::L => (png::ColorType::Grayscale, bytes),
        Color::La => (png::ColorType::GrayscaleAlpha, bytes),
        Color::Rgb => (png::ColorType::Rgb, bytes),
        Color::Rgba => (png::ColorType::Rgba, bytes),
        Color::Cmyk => (png::ColorType::Rgb, from_cmyk(&bytes, depth)),
    };
    let mut file = Vec::new();
    let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let mut encoder = png::Encoder::new(&mut file, side(picture.width), side(picture.height));
    encoder.set_color(color);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&bytes)?;
    writer.finish()?;
    Ok(file)
}

/// The first pictures of a batch (64 at most), side by side with a gap of two pixels.
pub fn contact_sheet(batch: &Batch) -> Picture {
    const MOST: usize = 64;
    const GAP: usize = 2;
    let count = batch.shape[0].min(MOST);
    let columns = (count as f64).sqrt().ceil() as usize;
    let rows = count.div_ceil(columns.max(1));
    let tiles: Vec<Picture> = (0..count).map(|index| batch.picture(index)).collect();
    let (width, height) = (tiles[0].width, tiles[0].height);
    let channels = batch.color.channels();
    let sheet_width = columns * width + (columns - 1) * GAP;
    let sheet_height = rows * height + (rows - 1) * GAP;
    let mut sheet = vec![0u8; sheet_width * sheet_height * channels];
    for (index, tile) in tiles.iter().enumerate() {
        let bytes = match &tile.pixels {
            Pixels::U8(values) => interleaved(values, tile),
            Pixels::U16(values) => interleaved(values, tile)
                .iter()
                .map(|value| (value >> 8) as u8)
                .collect(),
            Pixels::F32(values) => shown(&interleaved(values, tile)),
        };
        let (row, column) = (index / columns, index % columns);
        let left = column * (width + GAP) * channels;
        for (line, source) in bytes.chunks_exact(width * channels).enumerate() {
            let start = (row * (height + GAP) + line) * sheet_width * channels + left;
            sheet[start..start + source.len()].copy_from_slice(source);
        }
    }
    Picture::hwc(sheet_width, sheet_height, batch.color, Pixels::U8(sheet))
}

fn interleaved<T: Copy>(values: &[T], picture: &Picture) -> Vec<T> {
    let channels = picture.color.channels();
    let plane = picture.width * picture.height;
    match picture.layout {
        Layout::Hwc => values.to_vec(),
        Layout::Chw => (0..plane * channels)
            .map(|at| values[at % channels * plane + at / channels])
            .collect(),
    }
}

fn shown(values: &[f32]) -> Vec<u8> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (
        finite().fold(0.0f32, f32::min),
        finite().fold(1.0f32, f32::max),
    );
    let scale = 255.0 / (high - low);
    values
        .iter()
        .map(|value| ((value - low) * scale + 0.5) as u8)
        .collect()
}

/// Pillow's conversion of CMYK, on the high bytes where there are two.
fn from_cmyk(bytes: &[u8], depth: png::BitDepth) -> Vec<u8> {
    let step = if depth == png::BitDepth::Sixteen {
        2
    } else {
        1
    };
    let mut rgb = Vec::with_capacity(bytes.len() / 4 * 3);
    for pixel in bytes.chunks_exact(4 * step) {
        let rest = 255 - u32::from(pixel[3 * step]);
        for channel in 0..3 {
            let product = u32::from(pixel[channel * step]) * rest + 128;
            let value = rest.saturating_sub((product + (product >> 8)) >> 8) as u8;
            rgb.extend(std::iter::repeat_n(value, step));
        }
    }
    rgb
}
