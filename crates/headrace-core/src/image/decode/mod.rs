//! Bytes to pictures: the format is told from the first bytes, limits are checked from the header, and damage is an error.

mod options;
mod sniff;

pub use options::{DecodeOptions, Orientation, Truncated};
pub use sniff::Format;

use super::picture::Picture;

/// Why bytes are no picture.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DecodeError {
    #[error("expected an image ({names}), found {found}", names = Format::NAMES)]
    Unknown { found: String },
    #[error("{format} image is damaged: {detail}")]
    Damaged { format: Format, detail: String },
    #[error("{format} image of a kind that is not supported: {detail}")]
    Unsupported { format: Format, detail: String },
    #[error("{format} image beyond the limits: {detail}")]
    Limit { format: Format, detail: String },
}

/// Decodes one picture, in HWC: uint8, or uint16 where `options.depth` is 16.
pub fn decode(data: &[u8], _options: &DecodeOptions) -> Result<Picture, DecodeError> {
    let format = sniff::format(data)?;
    Err(DecodeError::Unsupported {
        format,
        detail: "its decoder is not built in".into(),
    })
}
