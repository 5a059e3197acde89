//! `Permutation`: the core's keyed bijection.

use headrace_core as core;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyBufferError, PyIndexError, PyOverflowError, PyValueError};
use pyo3::prelude::*;

/// Indices computed between two looks at the interpreter; also the bound of `fill`'s scratch memory.
const CHUNK: usize = 1 << 15;

#[pyclass(frozen, module = "headrace._native")]
pub struct Permutation(core::Permutation);

#[pymethods]
impl Permutation {
    #[new]
    fn new(n: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let size = within(n, "n", "[0, 2**63)")?;
        let seed = within(key, "key", "[0, 2**64)")?;
        core::Permutation::new(size, seed)
            .map(Self)
            .ok_or_else(|| outside("n", "[0, 2**63)", n))
    }

    fn __len__(&self) -> usize {
        // n < 2^63 by construction.
        self.0.len() as usize
    }

    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<u64> {
        let beyond = || {
            PyIndexError::new_err(format!(
                "index {index} is out of range for {} places",
                self.0.len()
            ))
        };
        let place = match index.extract::<i64>() {
            Ok(place) => place,
            Err(error) if error.is_instance_of::<PyOverflowError>(index.py()) => {
                return Err(beyond());
            }
            Err(error) => return Err(error),
        };
        let place = if place < 0 {
            place.checked_add_unsigned(self.0.len())
        } else {
            Some(place)
        };
        place
            .and_then(|place| u64::try_from(place).ok())
            .and_then(|place| self.0.get(place))
            .ok_or_else(beyond)
    }

    #[pyo3(signature = (start, count, step=1))]
    fn indices(&self, py: Python<'_>, start: i64, count: usize, step: i64) -> PyResult<Vec<i64>> {
        self.check(start, count, step)?;
        let mut out = vec![0; count];
        py.detach(|| self.0.fill(&mut out, start, step));
        Ok(out)
    }

    #[pyo3(signature = (out, start, step=1))]
    fn fill(&self, py: Python<'_>, out: PyBuffer<i64>, start: i64, step: i64) -> PyResult<()> {
        let count = out.item_count();
        self.check(start, count, step)?;
        let mut scratch = vec![0; count.min(CHUNK)];
        for at in (0..count).step_by(CHUNK) {
            let part = &mut scratch[..CHUNK.min(count - at)];
            // Inside the range that was checked above.
            let first = (i128::from(start) + at as i128 * i128::from(step)) as i64;
            py.detach(|| self.0.fill(part, first, step));
            let cells = out.as_mut_slice(py).ok_or_else(|| {
                PyBufferError::new_err("out must be a contiguous writable int64 buffer")
            })?;
            for (cell, value) in cells[at..].iter().zip(part) {
                cell.set(*value);
            }
        }
        Ok(())
    }
}

impl Permutation {
    fn check(&self, start: i64, count: usize, step: i64) -> PyResult<()> {
        if self.0.covers(start, count, step) {
            return Ok(());
        }
        Err(PyIndexError::new_err(format!(
            "{count} places from {start} in steps of {step} leave the range of {} places",
            self.0.len()
        )))
    }
}

fn within(value: &Bound<'_, PyAny>, name: &str, range: &str) -> PyResult<u64> {
    value.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            outside(name, range, value)
        } else {
            error
        }
    })
}

fn outside(name: &str, range: &str, value: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!("{name} must lie in {range}, found {value}"))
}
