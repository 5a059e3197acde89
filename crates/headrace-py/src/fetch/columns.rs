//! Where an item is: a list of locations, or a template over columns. Read attached, a batch at a time.

use std::borrow::Cow;
use std::ffi::OsString;

use headrace_core::fetch::{Template, Value};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use super::errors;

pub enum Locations {
    List(Vec<OsString>),
    Template {
        template: Template,
        columns: Vec<Column>,
        length: u64,
    },
}

/// A column of a template: integers where NumPy keeps them, or any sequence of str and int.
pub enum Column {
    Signed(PyBuffer<i64>),
    Unsigned(PyBuffer<u64>),
    Sequence(Py<PyAny>),
}

impl Column {
    pub fn new(column: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(buffer) = PyBuffer::<i64>::get(column) {
            return Ok(Self::Signed(buffer));
        }
        if let Ok(buffer) = PyBuffer::<u64>::get(column) {
            return Ok(Self::Unsigned(buffer));
        }
        Ok(Self::Sequence(column.clone().unbind()))
    }

    fn value<'py>(&self, py: Python<'py>, index: u64) -> PyResult<Value<'static>> {
        let place = index as usize;
        let missing =
            || pyo3::exceptions::PyIndexError::new_err("the column is shorter than the dataset");
        match self {
            Self::Signed(cells) => {
                let cells = cells.as_slice(py).ok_or_else(missing)?;
                Ok(Value::Int(cells.get(place).ok_or_else(missing)?.get()))
            }
            Self::Unsigned(cells) => {
                let cells = cells.as_slice(py).ok_or_else(missing)?;
                Ok(Value::Unsigned(cells.get(place).ok_or_else(missing)?.get()))
            }
            Self::Sequence(values) => {
                let value = values.bind(py).get_item(place)?;
                if let Ok(text) = value.cast::<PyString>() {
                    return Ok(Value::Text(Cow::Owned(text.to_str()?.to_owned())));
                }
                Ok(Value::Number(Cow::Owned(
                    value.cast::<PyInt>()?.str()?.to_str()?.to_owned(),
                )))
            }
        }
    }
}

impl Locations {
    pub fn len(&self) -> u64 {
        match self {
            Self::List(list) => list.len() as u64,
            Self::Template { length, .. } => *length,
        }
    }

    /// Where item `index` is, which lies below `len`.
    pub fn get(&self, py: Python<'_>, index: u64) -> PyResult<OsString> {
        match self {
            Self::List(list) => Ok(list[index as usize].clone()),
            Self::Template {
                template, columns, ..
            } => {
                // The core asks for one value after the other: a failure to read one waits for the end.
                let mut failure = None;
                let made = template.render(index, |column| {
                    columns[column].value(py, index).unwrap_or_else(|error| {
                        failure.get_or_insert(error);
                        Value::Int(0)
                    })
                });
                match failure {
                    Some(error) => Err(error),
                    None => made.map(OsString::from).map_err(errors::template),
                }
            }
        }
    }
}
