//! Integers to floats, and their normalisation: functions of one value, which is why they can wait for the last pass.

use super::OpError;
use crate::image::picture::{Dtype, Layout, Picture, Pixels};

/// A function of one value, for each channel.
#[derive(Clone, Debug, PartialEq)]
pub enum Tone {
    /// `value / maximum of the type`, or the value itself.
    Float { scale: bool },
    /// `(value - mean) / std`, in float32.
    Normalize { mean: Vec<f32>, std: Vec<f32> },
}

impl Tone {
    /// Whether a picture of `dtype` with `channels` channels can take it.
    pub fn check(&self, dtype: Dtype, channels: usize) -> Result<(), OpError> {
        match self {
            Tone::Float { .. } if dtype == Dtype::F32 => Err(OpError::Dtype {
                op: "ToFloat",
                expected: "uint8 or uint16",
                found: dtype,
                advice: "the image is float already",
            }),
            Tone::Normalize { .. } if dtype != Dtype::F32 => Err(OpError::Dtype {
                op: "Normalize",
                expected: "float32",
                found: dtype,
                advice: "put ToFloat() before it",
            }),
            Tone::Normalize { mean, .. } if mean.len() != channels => Err(OpError::Channels {
                op: "Normalize",
                expected: mean.len(),
                found: channels,
            }),
            _ => Ok(()),
        }
    }

    /// One value of a channel; `maximum` is that of the integer type it came from.
    #[inline]
    pub fn apply(&self, value: f32, channel: usize, maximum: f32) -> f32 {
        match self {
            Tone::Float { scale: true } => value / maximum,
            Tone::Float { scale: false } => value,
            Tone::Normalize { mean, std } => (value - mean[channel]) / std[channel],
        }
    }

    /// The picture with the function applied.
    pub fn picture(&self, picture: Picture) -> Result<Picture, OpError> {
        self.check(picture.dtype(), picture.color.channels())?;
        match self {
            Tone::Float { scale } => Ok(to_float(picture, *scale)),
            Tone::Normalize { mean, std } => Ok(normalize(picture, mean, std)),
        }
    }
}

/// float32 of 0 to 1, or the numbers as they are; the quotient is rounded once, as `ToTensor`'s.
pub fn to_float(picture: Picture, scale: bool) -> Picture {
    let values = match picture.pixels {
        Pixels::U8(values) => {
            let table: [f32; 256] =
                std::array::from_fn(|value| value as f32 / if scale { 255.0 } else { 1.0 });
            values
                .iter()
                .map(|&value| table[usize::from(value)])
                .collect()
        }
        Pixels::U16(values) => {
            let divisor = if scale { 65535.0 } else { 1.0 };
            values
                .iter()
                .map(|&value| f32::from(value) / divisor)
                .collect()
        }
        Pixels::F32(values) => values,
    };
    Picture {
        pixels: Pixels::F32(values),
        transparent: None,
        ..picture
    }
}

fn normalize(mut picture: Picture, mean: &[f32], std: &[f32]) -> Picture {
    let channels = picture.color.channels();
    if let Pixels::F32(values) = &mut picture.pixels {
        match picture.layout {
            Layout::Hwc => {
                for pixel in values.chunks_exact_mut(channels) {
                    for ((value, mean), std) in pixel.iter_mut().zip(mean).zip(std) {
                        *value = (*value - mean) / std;
                    }
                }
            }
            Layout::Chw => {
                let area = (picture.width * picture.height).max(1);
                for ((plane, mean), std) in values.chunks_exact_mut(area).zip(mean).zip(std) {
                    for value in plane {
                        *value = (*value - mean) / std;
                    }
                }
            }
        }
    }
    picture
}
