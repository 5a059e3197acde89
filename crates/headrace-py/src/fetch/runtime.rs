//! `Runtime`: threads, connections and the bound on the requests in flight.

use headrace_core::fetch as core;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

#[pyclass(frozen, module = "headrace._native")]
pub struct Runtime(pub core::Runtime);

#[pymethods]
impl Runtime {
    #[new]
    #[pyo3(signature = (threads, in_flight))]
    fn new(py: Python<'_>, threads: Option<usize>, in_flight: usize) -> PyResult<Self> {
        if threads == Some(0) || in_flight == 0 {
            return Err(PyValueError::new_err(
                "threads and in_flight must be at least 1, found 0",
            ));
        }
        Ok(Self(py.detach(|| core::Runtime::new(threads, in_flight))?))
    }

    fn close(&self, py: Python<'_>) {
        if self.0.is_ours() {
            py.detach(|| self.0.close());
        }
    }
}
