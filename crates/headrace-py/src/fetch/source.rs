//! `Source`: a dataset's description, compiled once.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use headrace_core::fetch::{self as core, Fetcher, HttpOptions, Kind, Template, Verify};
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyValueError};
use pyo3::prelude::*;

use super::columns::{Column, Locations};
use super::options::{self, Retry};
use super::{Fetches, Runtime, errors};

#[pyclass(frozen, module = "headrace._native")]
pub struct Source {
    fetcher: core::OfProcess<Fetcher>,
    locations: Locations,
}

/// A list of locations, or (template, columns in the order of its names, length).
#[derive(FromPyObject)]
pub enum Where<'py> {
    Template((String, Vec<Bound<'py, PyAny>>, u64)),
    List(Vec<OsString>),
}

#[pymethods]
impl Source {
    #[staticmethod]
    #[pyo3(signature = (locations, *, retry, max_bytes, headers, connect_timeout, verify))]
    #[allow(clippy::too_many_arguments)]
    fn http(
        py: Python<'_>,
        locations: Where<'_>,
        retry: Retry,
        max_bytes: u64,
        headers: Vec<(String, String)>,
        connect_timeout: Option<f64>,
        verify: Option<PathBuf>,
    ) -> PyResult<Self> {
        let options = HttpOptions {
            headers,
            connect_timeout: connect_timeout.map(options::seconds).transpose()?,
            retry: retry.policy()?,
            max_bytes,
            verify: match verify {
                None => Verify::System,
                Some(path) if path.as_os_str().is_empty() => Verify::Nothing,
                Some(path) => Verify::Bundle(path),
            },
        };
        let locations = compile(locations, Kind::Url)?;
        let fetcher = py
            .detach(|| core::HttpFetcher::new(options))
            .map_err(errors::setup)?;
        Ok(Self::new(Fetcher::Http(Arc::new(fetcher)), locations))
    }

    #[staticmethod]
    #[pyo3(signature = (locations, *, retry, max_bytes))]
    fn files(locations: Where<'_>, retry: Retry, max_bytes: u64) -> PyResult<Self> {
        let fetcher = core::FileFetcher {
            retry: retry.policy()?,
            max_bytes,
        };
        let locations = compile(locations, Kind::Path)?;
        Ok(Self::new(Fetcher::Files(Arc::new(fetcher)), locations))
    }

    /// The columns that a template uses, `index` left out.
    #[staticmethod]
    fn placeholders(template: &str) -> PyResult<Vec<String>> {
        let template = Template::parse(template, Kind::Path).map_err(errors::template)?;
        Ok(template.names().to_vec())
    }

    fn __len__(&self) -> usize {
        self.locations.len() as usize
    }

    /// The location of one item, without anything that could be secret.
    fn location(&self, py: Python<'_>, index: u64) -> PyResult<String> {
        let index = self.inside(index as i64)?;
        Ok(core::redact(
            &self.locations.get(py, index)?.to_string_lossy(),
        ))
    }

    /// Whether values decide about more of a URL than its path and query.
    fn values_shape_the_host(&self) -> bool {
        match &self.locations {
            Locations::Template { template, .. } => template.values_shape_the_host(),
            Locations::List(_) => false,
        }
    }

    /// Raises ValueError for the first item among `indices` whose location cannot be.
    fn check(&self, py: Python<'_>, start: u64, stop: u64) -> PyResult<()> {
        for index in start..stop.min(self.locations.len()) {
            let location = self.locations.get(py, index)?;
            let text = location.to_string_lossy();
            match &*self.fetcher {
                Fetcher::Http(_) => core::check_url(&text),
                Fetcher::Objects(_) => core::check_key(&text),
                Fetcher::Files(_) if location.as_encoded_bytes().contains(&0) => {
                    let message = format!("item {index}: a path may hold no NUL, found {text:?}");
                    return Err(PyValueError::new_err(message));
                }
                Fetcher::Files(_) => Ok(()),
            }
            .map_err(|error| PyValueError::new_err(format!("item {index}: {error}")))?;
        }
        Ok(())
    }

    fn start(
        &self,
        py: Python<'_>,
        runtime: &Runtime,
        indices: &Bound<'_, PyAny>,
        concurrency: usize,
    ) -> PyResult<Fetches> {
        let mut places = Vec::with_capacity(indices.len().unwrap_or_default());
        let mut locations = Vec::with_capacity(places.capacity());
        for index in indices.try_iter()? {
            let index = index?;
            let place = index.extract::<i64>().map_err(|error| {
                if error.is_instance_of::<PyOverflowError>(py) {
                    self.outside(&index)
                } else {
                    error
                }
            })?;
            let place = self.inside(place)?;
            places.push(place);
            locations.push(self.locations.get(py, place)?);
        }
        let fetches = py
            .detach(|| core::Fetches::start(&runtime.0, &self.fetcher, locations, concurrency))
            .map_err(errors::setup)?;
        Ok(Fetches::new(fetches, places))
    }
}

impl Source {
    fn new(fetcher: Fetcher, locations: Locations) -> Self {
        Self {
            fetcher: core::OfProcess::new(fetcher),
            locations,
        }
    }

    /// A place in [0, len); negative ones count from the end.
    fn inside(&self, place: i64) -> PyResult<u64> {
        let length = self.locations.len();
        let found = if place < 0 {
            length.checked_add_signed(place)
        } else {
            Some(place as u64)
        };
        found
            .filter(|&found| found < length)
            .ok_or_else(|| self.outside(place))
    }

    fn outside(&self, index: impl std::fmt::Display) -> PyErr {
        let length = self.locations.len();
        PyIndexError::new_err(format!("index {index} is out of range for {length} items"))
    }
}

fn compile(given: Where<'_>, kind: Kind) -> PyResult<Locations> {
    match given {
        Where::List(list) => Ok(Locations::List(list)),
        Where::Template((template, columns, length)) => Ok(Locations::Template {
            template: Template::parse(&template, kind).map_err(errors::template)?,
            columns: columns.iter().map(Column::new).collect::<PyResult<_>>()?,
            length,
        }),
    }
}
