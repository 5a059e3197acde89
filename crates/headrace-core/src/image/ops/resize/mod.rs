//! Resampling of uint8 pictures, with the numbers of Pillow's `Image.resize`.
//!
//! An output pixel is a weighted sum of input pixels, first along the row, then down the column (or the other way round
//! where the height shrinks much more than the width). Weights are 22-bit fixed point, sums are 32-bit integers, and
//! between the passes the values are rounded to bytes, so every kernel (scalar or SIMD) gives the same bytes, and any part
//! of the output can be made alone.
//!
//! | file | holds |
//! |---|---|
//! | `filter` | the filters' functions and supports |
//! | `weights` | the fixed-point weights of one axis |
//! | `stream` | rows in, rows out: both passes over a ring of rows |
//! | `kernel`, `scalar`, `avx2` | the sums, and which code makes them on this machine |
//! | `nearest` | the filter that picks |
//! | `interpolate` | `antialias=False`, as torch's `interpolate` |
//! | `premultiply` | colours weighted by their alpha |

#[cfg(target_arch = "x86_64")]
mod avx2;
mod filter;
mod interpolate;
mod kernel;
mod nearest;
mod premultiply;
mod scalar;
mod stream;
mod weights;

pub use filter::Filter;
pub(crate) use premultiply::{premultiply, unpremultiply};
pub use stream::{Resampler, Scratch};

/// The part of the source that is shown, in pixels that may be fractions: left, top, right, bottom.
pub type Extent = [f32; 4];

/// A resize of a picture, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// Size of the source, or of the part of it that is taken for the whole.
    pub source_width: usize,
    pub source_height: usize,
    /// What of the source is shown; the filter may still look beyond it.
    pub extent: Extent,
    pub width: usize,
    pub height: usize,
    pub filter: Filter,
    pub antialias: bool,
}

impl Request {
    /// The whole of a `source_width` by `source_height` picture at another size.
    pub fn whole(
        (source_width, source_height): (usize, usize),
        (width, height): (usize, usize),
        filter: Filter,
        antialias: bool,
    ) -> Self {
        Self {
            source_width,
            source_height,
            extent: [0.0, 0.0, source_width as f32, source_height as f32],
            width,
            height,
            filter,
            antialias,
        }
    }

    /// Whether columns are summed before rows: Pillow 13's choice, which decides what is rounded in between. (Pillow 12 and
    /// older always sum rows first.)
    pub fn goes_down_first(&self) -> bool {
        let lost = |from: usize, to: usize| from as i64 - to as i64;
        let rows = lost(self.source_height, self.height);
        rows > 0 && rows > 2 * lost(self.source_width, self.width)
    }

    /// Whether the result is the source itself.
    pub fn is_identity(&self) -> bool {
        self.width == self.source_width
            && self.height == self.source_height
            && self.extent == [0.0, 0.0, self.width as f32, self.height as f32]
    }
}
