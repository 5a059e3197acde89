//! `Window`: the core's window over Python objects.
//!
//! Nothing here touches a reference count while the core's lock is held: objects are moved in and out. The lock is taken
//! attached, which is sound because no holder ever needs the interpreter to go on. The class takes no part in cyclic
//! collection: detached threads move items, so two passes of the collector could see different ones. `close` ends cycles.

use std::time::{Duration, Instant};

use headrace_core::{self as core, Claim, Refused, Take};
use pyo3::exceptions::PyBaseException;
use pyo3::exceptions::{
    PyRuntimeError, PyStopIteration, PyTimeoutError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;

/// Longest wait between two looks at signals.
const SLICE: Duration = Duration::from_millis(50);

enum Outcome {
    Result(Py<PyAny>),
    Failure(Py<PyBaseException>),
}

#[pyclass(frozen, module = "headrace._native")]
pub struct Window(core::Window<Outcome>);

#[pymethods]
impl Window {
    #[new]
    #[pyo3(signature = (capacity, total=None, *, ordered=true))]
    fn new(capacity: usize, total: Option<u64>, ordered: bool) -> PyResult<Self> {
        if capacity == 0 {
            return Err(PyValueError::new_err(
                "capacity must be at least 1, found 0",
            ));
        }
        Ok(Self(core::Window::new(capacity, total, ordered)))
    }

    fn claim(&self, py: Python<'_>) -> Option<u64> {
        let claim = match self.0.try_claim() {
            Claim::Full => py.detach(|| self.0.claim()),
            claim => claim,
        };
        match claim {
            Claim::Number(number) => Some(number),
            Claim::End | Claim::Closed | Claim::Full => None,
        }
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self) -> PyResult<Option<u64>> {
        match self.0.try_claim() {
            Claim::Number(number) => Ok(Some(number)),
            Claim::End => Ok(None),
            Claim::Closed => Err(closed()),
            Claim::Full => Err(PyRuntimeError::new_err(
                "another thread is advancing this iterator",
            )),
        }
    }

    fn put(&self, number: u64, result: Py<PyAny>) -> PyResult<()> {
        accept(number, self.0.put(number, Outcome::Result(result)))
    }

    fn fail(&self, number: u64, exception: Py<PyAny>, py: Python<'_>) -> PyResult<()> {
        let Ok(exception) = exception.into_bound(py).cast_into::<PyBaseException>() else {
            return Err(PyTypeError::new_err("fail expects an exception object"));
        };
        accept(
            number,
            self.0.fail(number, Outcome::Failure(exception.unbind())),
        )
    }

    fn skip(&self, number: u64) -> PyResult<()> {
        accept(number, self.0.skip(number).map(|()| None))
    }

    fn give(&self, number: u64) -> PyResult<()> {
        accept(number, self.0.give(number).map(|()| None))
    }

    fn finish(&self, total: u64) {
        drop(self.0.finish(total));
    }

    #[pyo3(signature = (timeout=None))]
    fn take(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        let mut turn = match self.0.take() {
            Take::Wait(turn) => turn,
            found => return outcome(py, found),
        };
        let deadline = match timeout {
            Some(seconds) if seconds.is_nan() || seconds < 0.0 => {
                let message =
                    format!("timeout must be None or at least 0 seconds, found {seconds}");
                return Err(PyValueError::new_err(message));
            }
            // Too far to be reached is no deadline.
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .ok()
                .and_then(|wait| Instant::now().checked_add(wait)),
            None => None,
        };
        loop {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            let slice = left.map_or(SLICE, |left| left.min(SLICE));
            if let Some(found) = py.detach(|| turn.wait(slice)) {
                drop(turn);
                return outcome(py, found);
            }
            py.check_signals()?;
            if left.is_some_and(|left| left <= slice) {
                let message = format!("no result within {} s", timeout.unwrap_or_default());
                return Err(PyTimeoutError::new_err(message));
            }
        }
    }

    fn close(&self) {
        drop(self.0.close());
    }

    fn tune(&self, limit: usize, group: usize, spin_us: u64) -> PyResult<()> {
        if limit == 0 {
            return Err(PyValueError::new_err("limit must be at least 1, found 0"));
        }
        self.0.tune(limit, group, Duration::from_micros(spin_us));
        Ok(())
    }

    #[getter]
    fn given(&self) -> u64 {
        self.0.given()
    }

    #[getter]
    fn ahead(&self) -> Vec<u64> {
        self.0.ahead()
    }

    #[getter]
    fn closed(&self) -> bool {
        self.0.closed()
    }

    #[getter]
    fn outstanding(&self) -> usize {
        self.0.outstanding()
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
        let counts = self.0.statistics();
        let dict = pyo3::types::PyDict::new(py);
        for (name, value) in [
            ("claimed", counts.claimed as f64),
            ("put", counts.put as f64),
            ("taken", counts.taken as f64),
            ("skipped", counts.skipped as f64),
            ("failed", counts.failed as f64),
            ("largest", counts.largest as f64),
            ("occupancy", counts.occupancy as f64),
            ("wait_s", counts.wait.as_secs_f64()),
            ("idle_s", counts.idle.as_secs_f64()),
        ] {
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }
}

fn closed() -> PyErr {
    PyRuntimeError::new_err("the iterator is closed")
}

fn outcome(py: Python<'_>, found: Take<'_, Outcome>) -> PyResult<Py<PyAny>> {
    match found {
        Take::Item(Outcome::Result(result)) => Ok(result),
        Take::Item(Outcome::Failure(exception)) => {
            Err(PyErr::from_value(exception.into_bound(py).into_any()))
        }
        Take::End => Err(PyStopIteration::new_err(())),
        Take::Closed => Err(closed()),
        Take::Busy | Take::Wait(_) => Err(PyRuntimeError::new_err(
            "another thread is advancing this iterator",
        )),
    }
}

fn accept(number: u64, handed: Result<Option<Outcome>, Refused<Outcome>>) -> PyResult<()> {
    handed.map(drop).map_err(|_| {
        PyValueError::new_err(format!(
            "number {number} is not claimed, or was handed over before"
        ))
    })
}
