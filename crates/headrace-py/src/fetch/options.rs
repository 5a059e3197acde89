//! Arguments that Python has checked, as the core's options.

use std::time::Duration;

use headrace_core::fetch as core;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How often and how long; seconds, `None` for no limit.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Retry {
    retries: u32,
    backoff: f64,
    max_backoff: f64,
    timeout: Option<f64>,
    deadline: Option<f64>,
}

impl Retry {
    pub fn policy(&self) -> PyResult<core::RetryPolicy> {
        Ok(core::RetryPolicy {
            retries: self.retries,
            backoff: seconds(self.backoff)?,
            max_backoff: seconds(self.max_backoff)?,
            timeout: self.timeout.map(seconds).transpose()?,
            deadline: self.deadline.map(seconds).transpose()?,
        })
    }
}

/// More seconds than a `Duration` holds are no limit that anyone meets.
pub fn seconds(value: f64) -> PyResult<Duration> {
    if value.is_nan() || value < 0.0 {
        return Err(PyValueError::new_err(format!(
            "expected at least 0 seconds, found {value}"
        )));
    }
    Ok(Duration::try_from_secs_f64(value).unwrap_or(Duration::MAX))
}
