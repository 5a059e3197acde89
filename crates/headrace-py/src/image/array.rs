//! `Image.from_array`: one copy of what `numpy.asarray` makes of an object.

use headrace_core::image::{Color, Layout, Picture, Pixels};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::object;

/// `Decode`'s limits.
const MOST_SIDE: usize = 16384;
const MOST_BYTES: usize = 256 << 20;

pub fn picture(obj: &Bound<'_, PyAny>, layout: &str) -> PyResult<Picture> {
    let py = obj.py();
    let Some(order) = object::layout(layout) else {
        return Err(PyValueError::new_err(format!(
            "layout must be \"hwc\" or \"chw\", found {layout:?}"
        )));
    };
    let numpy = py.import("numpy")?;
    let mut array = numpy.call_method1("asarray", (obj,))?;
    let dtype: String = array.getattr("dtype")?.getattr("name")?.extract()?;
    let size_bytes = match dtype.as_str() {
        "uint8" => 1,
        "uint16" => 2,
        "float32" => 4,
        _ => {
            return Err(PyTypeError::new_err(format!(
                "an image holds uint8, uint16 or float32 values, found {dtype}; convert them first, as in array.astype(\"float32\")"
            )));
        }
    };
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    let (height, width, channels) = match (shape.as_slice(), order) {
        (&[height, width], _) => (height, width, 1),
        (&[height, width, channels], Layout::Hwc) => (height, width, channels),
        (&[channels, height, width], Layout::Chw) => {
            array = array.call_method1("transpose", (1, 2, 0))?;
            (height, width, channels)
        }
        _ => {
            return Err(PyValueError::new_err(format!(
                "expected an array of shape (height, width) or, as layout={layout:?} says, of three axes, found {shape:?}"
            )));
        }
    };
    let color = match channels {
        1 => Color::L,
        3 => Color::Rgb,
        4 => Color::Rgba,
        _ => {
            return Err(PyValueError::new_err(format!(
                "expected 1, 3 or 4 channels, found {channels} in shape {shape:?} with layout={layout:?}"
            )));
        }
    };
    if height == 0 || width == 0 {
        return Err(PyValueError::new_err(format!(
            "an image needs at least one pixel, found shape {shape:?}"
        )));
    }
    let within = height <= MOST_SIDE
        && width <= MOST_SIDE
        && height * width * channels * size_bytes <= MOST_BYTES;
    if !within {
        return Err(PyValueError::new_err(format!(
            "an image has at most {MOST_SIDE} x {MOST_SIDE} pixels and {MOST_BYTES} bytes, found {dtype} of shape {shape:?}"
        )));
    }
    // Native byte order and no gaps: NumPy does that faster than reading strided.
    let array = numpy.call_method1("ascontiguousarray", (array, dtype.as_str()))?;
    let pixels = match size_bytes {
        1 => Pixels::U8(values(&array)?),
        2 => Pixels::U16(values(&array)?),
        _ => Pixels::F32(values(&array)?),
    };
    Ok(Picture::hwc(width, height, color, pixels))
}

fn values<T: Element>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    PyBuffer::<T>::get(array)?.to_vec(array.py())
}

/// The bytes of a uint8 picture in HWC; nothing for other types.
pub fn interleaved_bytes(picture: &Picture) -> Vec<u8> {
    let Pixels::U8(values) = &picture.pixels else {
        return Vec::new();
    };
    let channels = picture.color.channels();
    let plane = picture.width * picture.height;
    match picture.layout {
        Layout::Hwc => values.clone(),
        Layout::Chw => (0..values.len())
            .map(|at| values[at % channels * plane + at / channels])
            .collect(),
    }
}
