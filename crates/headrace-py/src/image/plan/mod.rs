//! `Plan`: a chain of operations, described by Python once and run without the interpreter.

mod steps;

use std::sync::Arc;

use headrace_core::draws::{self, Draws};
use headrace_core::image::{Input, Layout, Picture, Plan as Core, PlanError, StackError};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::batch::{BufferPool, ImageBatch};
use super::object::Image;

pyo3::import_exception!(headrace.errors, DecodeError);
pyo3::import_exception!(headrace.errors, TransformError);

#[pyclass(frozen, module = "headrace._native")]
pub struct Plan(Core);

#[pymethods]
impl Plan {
    #[new]
    fn new(steps: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        Ok(Self(Core::new(steps::read(steps)?)))
    }

    fn run(&self, py: Python<'_>, item: &Bound<'_, PyAny>, seed: u64) -> PyResult<Image> {
        let item = Item::read(item)?;
        let picture = py
            .detach(|| self.0.run(item.input(), Draws::new(seed)))
            .map_err(failure)?;
        Ok(Image(Arc::new(picture)))
    }

    /// The batch of the items that worked, and the places and errors of the others.
    #[allow(clippy::too_many_arguments, clippy::type_complexity)]
    fn run_batch(
        &self,
        py: Python<'_>,
        items: Vec<Bound<'_, PyAny>>,
        seed: u64,
        epoch: u64,
        indices: Vec<u64>,
        layout: &str,
        pool: &BufferPool,
    ) -> PyResult<(Option<ImageBatch>, Vec<(usize, PyErr)>)> {
        let layout = match layout {
            "NHWC" => Layout::Hwc,
            "NCHW" => Layout::Chw,
            other => {
                let message = format!("layout must be \"NCHW\" or \"NHWC\", found {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        if items.len() != indices.len() {
            let message = format!("{} items have {} indices", items.len(), indices.len());
            return Err(PyValueError::new_err(message));
        }
        let items = items.iter().map(Item::read).collect::<PyResult<Vec<_>>>()?;
        let made = py.detach(|| {
            let inputs: Vec<Input<'_>> = items.iter().map(Item::input).collect();
            let draws: Vec<Draws> = indices
                .iter()
                .map(|&index| Draws::item(seed, epoch, index))
                .collect();
            self.0.run_batch(&inputs, &draws, layout, &pool.0)
        });
        let made = made.map_err(|error| match error {
            StackError::Memory { .. } => PyMemoryError::new_err(error.to_string()),
            StackError::Empty | StackError::Unequal { .. } => {
                PyValueError::new_err(error.to_string())
            }
        })?;
        let failed = made.failed.into_iter();
        Ok((
            made.batch.map(|batch| ImageBatch(Arc::new(batch))),
            failed
                .map(|(place, error)| (place, failure(error)))
                .collect(),
        ))
    }

    #[getter]
    fn fused_from(&self) -> usize {
        self.0.fused_from()
    }
}

/// The first raw number of `sample_rng()` for an item.
#[pyfunction]
pub fn first_raw(seed: u64, epoch: u64, index: u64) -> u64 {
    draws::first_raw(seed, epoch, index)
}

/// What a chain starts from, held without the interpreter. Memory that Python could change meanwhile is copied.
enum Item {
    Image(Arc<Picture>),
    Bytes(PyBackedBytes),
    Copy(Vec<u8>),
}

impl Item {
    fn read(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(image) = object.cast::<Image>() {
            return Ok(Self::Image(Arc::clone(&image.get().0)));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(PyBackedBytes::from(bytes.clone())));
        }
        let py = object.py();
        match PyBuffer::<u8>::get(object) {
            Ok(buffer) if buffer.dimensions() == 1 => Ok(Self::Copy(buffer.to_vec(py)?)),
            _ => Err(PyTypeError::new_err(format!(
                "a transform takes encoded bytes (or a buffer of them in one dimension) or an Image, found {}; \
                 wrap arrays with Image.from_array",
                object.get_type().name()?
            ))),
        }
    }

    fn input(&self) -> Input<'_> {
        match self {
            Item::Image(picture) => Input::Picture(picture),
            Item::Bytes(bytes) => Input::Bytes(bytes),
            Item::Copy(bytes) => Input::Bytes(bytes),
        }
    }
}

fn failure(error: PlanError) -> PyErr {
    let message = error.to_string();
    match error {
        PlanError::Decode(_) => DecodeError::new_err(message),
        PlanError::Step { .. } | PlanError::NeedsDecode { .. } | PlanError::Decoded => {
            TransformError::new_err(message)
        }
    }
}
