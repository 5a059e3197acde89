//! One mapping from the core's failures to `headrace.errors`.

use headrace_core::fetch::{Class, FetchError, SetupError, TemplateError};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyType};

/// The class in `headrace.errors` for each class of the core.
fn name(class: Class) -> &'static str {
    match class {
        Class::Refused => "SourceError",
        Class::NotFound => "NotFoundError",
        Class::Permission => "PermissionDeniedError",
        Class::Throttled => "ThrottledError",
        Class::Server => "ServerError",
        Class::Transport => "TransportError",
        Class::Timeout => "FetchTimeoutError",
        Class::TooLarge => "ItemTooLargeError",
        Class::Integrity => "IntegrityError",
    }
}

/// The exception for the failure of item `index`.
pub fn exception(py: Python<'_>, error: &FetchError, index: u64) -> PyResult<Py<PyAny>> {
    let fields = [
        ("url", error.location.clone().into_pyobject(py)?.into_any()),
        ("status", error.status.into_pyobject(py)?.into_any()),
        ("attempts", error.attempts.into_pyobject(py)?.into_any()),
        ("index", index.into_pyobject(py)?.into_any()),
    ]
    .into_py_dict(py)?;
    let message = format!("item {index}: {error}");
    Ok(class(py, name(error.class))?
        .call((message,), Some(&fields))?
        .unbind())
}

pub fn cancelled(py: Python<'_>) -> PyErr {
    let made = class(py, "CancelledError")
        .and_then(|class| class.call1(("the batch was cancelled, or its runtime closed",)));
    made.map_or_else(|error| error, PyErr::from_value)
}

pub fn setup(error: SetupError) -> PyErr {
    match error {
        SetupError::Url { .. }
        | SetupError::Header { .. }
        | SetupError::Store { .. }
        | SetupError::Roots { .. } => PyValueError::new_err(error.to_string()),
        SetupError::Client { .. } => PyOSError::new_err(error.to_string()),
    }
}

pub fn template(error: TemplateError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("headrace.errors")?.getattr(name)?.cast_into()?)
}
