//! `ImageBatch` and the pool its memory comes from.

use std::path::PathBuf;
use std::sync::Arc;

use headrace_core::image::{self as core, Batch, Layout, Picture, StackError};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use super::dlpack;
use super::object::{Image, encoding, interface, pil, write_png};

#[pyclass(frozen, module = "headrace._native")]
pub struct ImageBatch(pub Arc<Batch>);

#[pymethods]
impl ImageBatch {
    #[getter]
    fn shape(&self) -> (usize, usize, usize, usize) {
        self.0.shape.into()
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        self.0.dtype.name()
    }

    #[getter]
    fn layout(&self) -> &'static str {
        match self.0.layout {
            Layout::Hwc => "NHWC",
            Layout::Chw => "NCHW",
        }
    }

    #[getter]
    fn color(&self) -> &'static str {
        self.0.color.name()
    }

    fn __len__(&self) -> usize {
        self.0.shape[0]
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        interface(
            py,
            &self.0.shape,
            self.0.dtype,
            self.0.buffer.address(),
            false,
        )
    }

    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dlpack::check(stream.as_ref(), dl_device)?;
        let shape = self.0.shape.to_vec();
        let dtype = self.0.dtype;
        if copy == Some(true) {
            // A vector of u64 is aligned for every type of value.
            let bytes = self.0.buffer.copy(0, self.0.buffer.size_bytes());
            let words: Vec<u64> = bytes
                .chunks(8)
                .map(|chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_ne_bytes(word)
                })
                .collect();
            let view = dlpack::View {
                address: words.as_ptr() as usize,
                shape,
                dtype,
                read_only: false,
                copied: true,
            };
            return dlpack::capsule(py, view, Box::new(words), max_version);
        }
        let view = dlpack::View {
            address: self.0.buffer.address(),
            shape,
            dtype,
            read_only: false,
            copied: false,
        };
        dlpack::capsule(py, view, Box::new(Arc::clone(&self.0)), max_version)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        dlpack::CPU
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let sheet = py.detach(|| core::contact_sheet(&self.0));
        write_png(py, &sheet, &path)
    }

    fn _repr_png_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let file = py
            .detach(|| core::to_png(&core::contact_sheet(&self.0)))
            .map_err(encoding)?;
        Ok(PyBytes::new(py, &file))
    }

    fn to_pil<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let images = (0..self.0.shape[0])
            .map(|index| pil(py, &self.0.picture(index)))
            .collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, images)
    }

    fn __getitem__(&self, index: isize) -> PyResult<Image> {
        let count = self.0.shape[0];
        let place = if index < 0 {
            index + count as isize
        } else {
            index
        };
        match usize::try_from(place) {
            Ok(place) if place < count => Ok(Image(Arc::new(self.0.picture(place)))),
            _ => Err(PyIndexError::new_err(format!(
                "index {index} in a batch of {count} images"
            ))),
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "ImageBatch(shape={:?}, {}, {}, {})",
            self.0.shape,
            self.dtype(),
            self.layout(),
            self.color()
        )
    }
}

/// Memory of dropped batches, kept for the next ones.
#[pyclass(frozen, module = "headrace._native")]
pub struct BufferPool(pub core::Pool);

#[pymethods]
impl BufferPool {
    #[new]
    fn new(buffers: usize) -> Self {
        Self(core::Pool::new(buffers))
    }

    fn stack(&self, py: Python<'_>, images: Vec<Py<Image>>, layout: &str) -> PyResult<ImageBatch> {
        let layout = match layout {
            "NHWC" => Layout::Hwc,
            "NCHW" => Layout::Chw,
            other => {
                return Err(PyValueError::new_err(format!(
                    "layout must be \"NCHW\" or \"NHWC\", found {other:?}"
                )));
            }
        };
        let owners: Vec<Arc<Picture>> = images
            .iter()
            .map(|image| Arc::clone(&image.get().0))
            .collect();
        let batch = py.detach(|| {
            let pictures: Vec<&Picture> = owners.iter().map(Arc::as_ref).collect();
            core::stack(&pictures, layout, &self.0)
        });
        batch
            .map(|batch| ImageBatch(Arc::new(batch)))
            .map_err(|error| match error {
                StackError::Memory { .. } => PyMemoryError::new_err(error.to_string()),
                StackError::Empty | StackError::Unequal { .. } => {
                    PyValueError::new_err(error.to_string())
                }
            })
    }
}
