//! What a caller may ask of a decoder, and the limits that hold before it allocates.

use super::{DecodeError, Format};

/// Which orientation tags turn the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// As Pillow's `load`: TIFF's tag turns, others do not.
    Pillow,
    /// Every format's tag turns, as `ImageOps.exif_transpose`.
    Exif,
    Ignore,
}

/// What a file that ends early is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncated {
    Error,
    /// What was decoded, the rest filled, as Pillow with `LOAD_TRUNCATED_IMAGES`.
    Pad,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DecodeOptions {
    pub max_width: usize,
    pub max_height: usize,
    /// Bytes of the decoder's working memory and the output together.
    pub max_alloc: usize,
    /// 8 or 16 bits a value.
    pub depth: u8,
    pub orientation: Orientation,
    pub truncated: Truncated,
    pub frame: usize,
    /// Height and width that the picture needs at least: JPEG may be decoded at 1/2, 1/4 or 1/8.
    pub scale_to: Option<(usize, usize)>,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self {
            max_width: 16384,
            max_height: 16384,
            max_alloc: 256 << 20,
            depth: 8,
            orientation: Orientation::Pillow,
            truncated: Truncated::Error,
            frame: 0,
            scale_to: None,
        }
    }
}

impl DecodeOptions {
    /// Refuses empty pictures and those beyond `max_width` and `max_height`.
    pub fn check_size(
        &self,
        format: Format,
        width: usize,
        height: usize,
    ) -> Result<(), DecodeError> {
        if width == 0 || height == 0 {
            return Err(DecodeError::Damaged {
                format,
                detail: format!("the header says {width} x {height} pixels"),
            });
        }
        if width > self.max_width || height > self.max_height {
            return Err(DecodeError::Limit {
                format,
                detail: format!(
                    "{width} x {height} pixels, and max_width x max_height are {} x {}",
                    self.max_width, self.max_height
                ),
            });
        }
        Ok(())
    }

    /// Refuses what needs more than `max_alloc` bytes.
    pub fn check_alloc(&self, format: Format, bytes: u64) -> Result<(), DecodeError> {
        if bytes > self.max_alloc as u64 {
            return Err(DecodeError::Limit {
                format,
                detail: format!(
                    "decoding needs {bytes} bytes, and max_alloc is {}",
                    self.max_alloc
                ),
            });
        }
        Ok(())
    }

    /// Bytes a value that is decoded to 8 bits takes at most at the same time: both depths live while it is widened.
    pub fn sample_bytes(&self) -> u64 {
        if self.depth == 16 { 3 } else { 1 }
    }

    pub fn reads_orientation(&self) -> bool {
        self.orientation == Orientation::Exif
    }
}
