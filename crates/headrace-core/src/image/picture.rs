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

impl Layout {
    pub const fn name(self) -> &'static str {
        match self {
            Layout::Hwc => "HWC",
            Layout::Chw => "CHW",
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dtype {
    U8,
    U16,
    F32,
}

impl Dtype {
    /// NumPy's name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Dtype::U8 => "uint8",
            Dtype::U16 => "uint16",
            Dtype::F32 => "float32",
        }
    }

    pub const fn size_bytes(self) -> usize {
        match self {
            Dtype::U8 => 1,
            Dtype::U16 => 2,
            Dtype::F32 => 4,
        }
    }
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

    pub fn dtype(&self) -> Dtype {
        match self {
            Pixels::U8(_) => Dtype::U8,
            Pixels::U16(_) => Dtype::U16,
            Pixels::F32(_) => Dtype::F32,
        }
    }

    /// The address of the first value; it stays while the vector is neither changed nor dropped.
    pub fn address(&self) -> usize {
        match self {
            Pixels::U8(values) => values.as_ptr() as usize,
            Pixels::U16(values) => values.as_ptr() as usize,
            Pixels::F32(values) => values.as_ptr() as usize,
        }
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
    /// The one colour of an L or RGB picture that `ToRgba` makes transparent (PNG's `tRNS`), in the pixels' own depth.
    pub transparent: Option<[u16; 3]>,
}

impl Picture {
    /// A picture in HWC without a transparent colour.
    pub fn hwc(width: usize, height: usize, color: Color, pixels: Pixels) -> Self {
        debug_assert_eq!(pixels.len(), width * height * color.channels());
        Self {
            width,
            height,
            color,
            layout: Layout::Hwc,
            pixels,
            transparent: None,
        }
    }

    pub fn dtype(&self) -> Dtype {
        self.pixels.dtype()
    }

    /// Lengths of the axes, in the order of `layout`.
    pub fn shape(&self) -> [usize; 3] {
        match self.layout {
            Layout::Hwc => [self.height, self.width, self.color.channels()],
            Layout::Chw => [self.color.channels(), self.height, self.width],
        }
    }

    pub fn size_bytes(&self) -> usize {
        self.pixels.len() * self.dtype().size_bytes()
    }
}
