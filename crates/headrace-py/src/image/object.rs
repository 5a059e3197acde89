//! `Image`: a picture that Python holds and never changes.

use std::path::PathBuf;
use std::sync::Arc;

use headrace_core::image::{Color, Dtype, Layout, Picture, to_png};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

use super::{array, dlpack};

#[pyclass(frozen, module = "headrace._native")]
pub struct Image(pub Arc<Picture>);

#[pymethods]
impl Image {
    #[classmethod]
    #[pyo3(signature = (obj, layout="hwc"))]
    fn from_array(
        _class: &Bound<'_, PyType>,
        obj: &Bound<'_, PyAny>,
        layout: &str,
    ) -> PyResult<Self> {
        Ok(Self(Arc::new(array::picture(obj, layout)?)))
    }

    #[getter]
    fn width(&self) -> usize {
        self.0.width
    }

    #[getter]
    fn height(&self) -> usize {
        self.0.height
    }

    #[getter]
    fn channels(&self) -> usize {
        self.0.color.channels()
    }

    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        self.0.shape().into()
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        self.0.dtype().name()
    }

    #[getter]
    fn layout(&self) -> &'static str {
        self.0.layout.name()
    }

    #[getter]
    fn color(&self) -> &'static str {
        self.0.color.name()
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        interface(
            py,
            &self.0.shape(),
            self.0.dtype(),
            self.0.pixels.address(),
            true,
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
        let copied = copy == Some(true);
        let owner = if copied {
            Arc::new((*self.0).clone())
        } else {
            Arc::clone(&self.0)
        };
        let view = dlpack::View {
            address: owner.pixels.address(),
            shape: owner.shape().to_vec(),
            dtype: owner.dtype(),
            read_only: !copied,
            copied,
        };
        dlpack::capsule(py, view, Box::new(owner), max_version)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        dlpack::CPU
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        write_png(py, &self.0, &path)
    }

    fn _repr_png_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let file = py.detach(|| to_png(&self.0)).map_err(encoding)?;
        Ok(PyBytes::new(py, &file))
    }

    fn to_pil<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        pil(py, &self.0)
    }

    fn __repr__(&self) -> String {
        let picture = &self.0;
        format!(
            "Image({}x{} {} {} {})",
            picture.width,
            picture.height,
            picture.color.name(),
            picture.dtype().name(),
            picture.layout.name()
        )
    }
}

/// Version 3 of NumPy's array interface; the array that is made holds the object whose attribute this is.
pub fn interface<'py>(
    py: Python<'py>,
    shape: &[usize],
    dtype: Dtype,
    address: usize,
    read_only: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let kind = match (dtype, cfg!(target_endian = "little")) {
        (Dtype::U8, _) => "|u1",
        (Dtype::U16, true) => "<u2",
        (Dtype::U16, false) => ">u2",
        (Dtype::F32, true) => "<f4",
        (Dtype::F32, false) => ">f4",
    };
    let interface = PyDict::new(py);
    interface.set_item("version", 3)?;
    interface.set_item("shape", pyo3::types::PyTuple::new(py, shape)?)?;
    interface.set_item("typestr", kind)?;
    interface.set_item("data", (address, read_only))?;
    Ok(interface)
}

pub fn write_png(py: Python<'_>, picture: &Picture, path: &std::path::Path) -> PyResult<()> {
    if !path
        .extension()
        .is_some_and(|suffix| suffix.eq_ignore_ascii_case("png"))
    {
        return Err(PyValueError::new_err(format!(
            "save writes PNG files: expected a path that ends in .png, found {}; for other formats use to_pil().save(path)",
            path.display()
        )));
    }
    let file = py.detach(|| to_png(picture)).map_err(encoding)?;
    py.detach(|| std::fs::write(path, file))?;
    Ok(())
}

pub fn encoding(error: headrace_core::image::EncodeError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A new Pillow image with a copy of the values.
pub fn pil<'py>(py: Python<'py>, picture: &Picture) -> PyResult<Bound<'py, PyAny>> {
    let Dtype::U8 = picture.dtype() else {
        return Err(PyValueError::new_err(format!(
            "to_pil takes uint8 images, found {}; Pillow has no {} mode of that type",
            picture.dtype().name(),
            picture.color.name()
        )));
    };
    let mode = match picture.color {
        Color::L | Color::La | Color::Rgb | Color::Rgba | Color::Cmyk => picture.color.name(),
    };
    let bytes = array::interleaved_bytes(picture);
    py.import("PIL.Image")?.call_method1(
        "frombytes",
        (
            mode,
            (picture.width, picture.height),
            PyBytes::new(py, &bytes),
        ),
    )
}

/// `HWC` or `CHW`, in either case.
pub fn layout(name: &str) -> Option<Layout> {
    match name.to_ascii_lowercase().as_str() {
        "hwc" => Some(Layout::Hwc),
        "chw" => Some(Layout::Chw),
        _ => None,
    }
}
