//! A picture in memory, and what its numbers mean.

/// The colour space that the channels are in; an image never forgets it, so that CMYK is not taken for RGBA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Color {
    L,
    La,
    Rgb,
    Rgba,
    Cmyk,
}

impl Color {
    pub const fn channels(self) -> usize {
        match self {
            Color::L => 1,
            Color::La => 2,
            Color::Rgb => 3,
            Color::Rgba | Color::Cmyk => 4,
        }
    }

    /// Pillow's name of the mode.
    pub const fn name(self) -> &'static str {
        match self {
            Color::L => "L",
            Color::La => "LA",
            Color::Rgb => "RGB",
            Color::Rgba => "RGBA",
            Color::Cmyk => "CMYK",
        }
    }
}

/// The order of the axes, the last one running fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    Hwc,
    Chw,
}

/// The values of a picture, `height * width * channels` of them, without gaps.
#[derive(Clone, Debug, PartialEq)]
pub enum Pixels {
    U8(Vec<u8>),
    U16(Vec<u16>),
    F32(Vec<f32>),
}

impl Pixels {
    pub fn len(&self) -> usize {
        match self {
            Pixels::U8(values) => values.len(),
            Pixels::U16(values) => values.len(),
            Pixels::F32(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A picture: `pixels.len() == height * width * color.channels()`, in `layout`.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub color: Color,
    pub layout: Layout,
    pub pixels: Pixels,
}
