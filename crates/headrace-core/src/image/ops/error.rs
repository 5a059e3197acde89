//! What an operation does not take.

use crate::image::picture::{Color, Dtype};

/// Why a picture could not be transformed: the operation, what it expects, and what it found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OpError {
    #[error("{op} takes {expected} values, found {}: {advice}", found.name())]
    Dtype {
        op: &'static str,
        expected: &'static str,
        found: Dtype,
        advice: &'static str,
    },
    #[error("{op} takes images in HWC, found CHW: put ToHwc() before it")]
    Layout { op: &'static str },
    #[error("{op} takes {expected}, found {}", found.name())]
    Color {
        op: &'static str,
        expected: &'static str,
        found: Color,
    },
    #[error("{op} was made for {expected} channels, found an image of {found}")]
    Channels {
        op: &'static str,
        expected: usize,
        found: usize,
    },
    #[error("{op}: fill {value} does not fit {}", dtype.name())]
    Fill {
        op: &'static str,
        value: f64,
        dtype: Dtype,
    },
    #[error("{op}: {reason}")]
    Size { op: &'static str, reason: String },
}
