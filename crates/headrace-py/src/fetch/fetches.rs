//! `Fetches`: one batch, as bytes and exceptions.

use std::time::{Duration, Instant};

use bytes::Bytes;
use headrace_core::fetch::{self as core, Arrival, FetchError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::errors;

/// Longest wait between two looks at signals.
const SLICE: Duration = Duration::from_millis(50);

#[pyclass(frozen, module = "headrace._native")]
pub struct Fetches {
    fetches: core::Fetches,
    indices: Vec<u64>,
}

impl Fetches {
    pub fn new(fetches: core::Fetches, indices: Vec<u64>) -> Self {
        Self { fetches, indices }
    }

    /// For glue that wants the items without Python objects.
    #[allow(dead_code)]
    pub fn core(&self) -> &core::Fetches {
        &self.fetches
    }

    fn convert(
        &self,
        py: Python<'_>,
        position: usize,
        item: Result<Bytes, FetchError>,
    ) -> PyResult<Py<PyAny>> {
        match item {
            Ok(data) => Ok(PyBytes::new(py, &data).into_any().unbind()),
            Err(error) => errors::exception(py, &error, self.indices[position]),
        }
    }
}

#[pymethods]
impl Fetches {
    fn next(&self, py: Python<'_>) -> PyResult<Option<(usize, Py<PyAny>)>> {
        loop {
            match py.detach(|| self.fetches.next(SLICE)) {
                Arrival::Item(position, item) => {
                    return Ok(Some((position, self.convert(py, position, item)?)));
                }
                Arrival::End => return Ok(None),
                Arrival::Cancelled => return Err(errors::cancelled(py)),
                Arrival::Nothing => py.check_signals()?,
            }
        }
    }

    fn all<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut items: Vec<_> = std::iter::repeat_with(|| None)
            .take(self.indices.len())
            .collect();
        // One look at signals for each slice, and as many items between two as there are.
        while !py
            .detach(|| self.collect(&mut items))
            .map_err(|()| errors::cancelled(py))?
        {
            py.check_signals()?;
        }
        let list = PyList::empty(py);
        for (position, item) in items.into_iter().enumerate() {
            // What `next` gave before is not given again.
            if let Some(item) = item {
                list.append(self.convert(py, position, item)?)?;
            }
        }
        Ok(list)
    }

    fn cancel(&self, py: Python<'_>) {
        py.detach(|| self.fetches.cancel());
    }
}

type Items = Vec<Option<Result<Bytes, FetchError>>>;

impl Fetches {
    /// Gathers for a slice of time. True at the end; an error when cancelled.
    fn collect(&self, items: &mut Items) -> Result<bool, ()> {
        let end = Instant::now() + SLICE;
        self.fetches.gather(items.len(), SLICE);
        loop {
            match self.fetches.next(Duration::ZERO) {
                Arrival::Item(position, item) => items[position] = Some(item),
                Arrival::End => return Ok(true),
                Arrival::Cancelled => return Err(()),
                Arrival::Nothing => return Ok(false),
            }
            if Instant::now() >= end {
                return Ok(false);
            }
        }
    }
}
