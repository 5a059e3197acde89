//! `pack` and `unpack`: msgpack from and to Python objects. Both stay attached: every step touches an object.

use headrace_core::batch::msgpack::{DEPTH_LIMIT, MsgpackError, Reader, Token};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple,
};

pyo3::import_exception!(headrace.errors, SampleError);

#[pyfunction]
pub fn pack<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let mut out = Vec::new();
    write(value, &mut out, 0)?;
    Ok(PyBytes::new(value.py(), &out))
}

#[pyfunction]
pub fn unpack<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = data.py();
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return whole(py, bytes.as_bytes());
    }
    // Another thread may write to such a buffer while it is read: a copy may not change.
    whole(py, &PyBuffer::<u8>::get(data)?.to_vec(py)?)
}

fn whole<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let mut reader = Reader::new(data);
    let value = read(py, &mut reader, 0)?;
    reader.end().map_err(refused)?;
    Ok(value)
}

fn read<'py>(
    py: Python<'py>,
    reader: &mut Reader<'_>,
    depth: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let at = reader.position();
    Ok(match reader.token().map_err(refused)? {
        Token::Nil => py.None().into_bound(py),
        Token::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Token::Int(value) => value.into_pyobject(py)?.into_any(),
        Token::Uint(value) => value.into_pyobject(py)?.into_any(),
        Token::Float(value) => PyFloat::new(py, value).into_any(),
        Token::Str(value) => PyString::new(py, value).into_any(),
        Token::Bin(value) => PyBytes::new(py, value).into_any(),
        Token::Array(_) | Token::Map(_) if depth == DEPTH_LIMIT => {
            return Err(refused(MsgpackError::Depth { at }));
        }
        Token::Array(count) => {
            let items = (0..count)
                .map(|_| read(py, reader, depth + 1))
                .collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Token::Map(count) => {
            let map = PyDict::new(py);
            for _ in 0..count {
                let key = key(py, reader)?;
                map.set_item(key, read(py, reader, depth + 1)?)?;
            }
            if map.len() != count as usize {
                return Err(SampleError::new_err(format!(
                    "the map at byte {at} names a key twice: {count} entries, {} keys",
                    map.len()
                )));
            }
            map.into_any()
        }
    })
}

/// A map's key: what Python can hash and compare.
fn key<'py>(py: Python<'py>, reader: &mut Reader<'_>) -> PyResult<Bound<'py, PyAny>> {
    let at = reader.position();
    match reader.clone().token().map_err(refused)? {
        Token::Array(_) | Token::Map(_) => Err(SampleError::new_err(format!(
            "the key at byte {at} is an array or a map, expected a string"
        ))),
        Token::Str(value) => {
            reader.skip().map_err(refused)?;
            Ok(PyString::intern(py, value).into_any())
        }
        _ => read(py, reader, 0),
    }
}

fn write(value: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> PyResult<()> {
    if depth > DEPTH_LIMIT {
        return Err(SampleError::new_err(format!(
            "nested deeper than {DEPTH_LIMIT} levels"
        )));
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_str().map_err(|_| {
            SampleError::new_err("a string holds a lone surrogate, which UTF-8 cannot write")
        })?;
        head_of_string(text.len(), out)?;
        out.extend_from_slice(text.as_bytes());
    } else if let Ok(bytes) = value.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        head_of_bin(bytes.len(), out)?;
        out.extend_from_slice(bytes);
    } else if value.is_none() {
        out.push(0xc0);
    } else if let Ok(flag) = value.cast::<PyBool>() {
        out.push(0xc2 + u8::from(flag.is_true()));
    } else if value.is_instance_of::<PyInt>() {
        integer(value, out)?;
    } else if let Ok(number) = value.cast::<PyFloat>() {
        out.push(0xcb);
        out.extend_from_slice(&number.value().to_be_bytes());
    } else if let Ok(items) = value.cast::<PyList>() {
        head(items.len(), [0x90, 0xdc, 0xdd], "a list", out)?;
        // By index: another thread may change the list, and the count is written already.
        for place in 0..items.len() {
            write(&items.get_item(place)?, out, depth + 1)?;
        }
    } else if let Ok(items) = value.cast::<PyTuple>() {
        head(items.len(), [0x90, 0xdc, 0xdd], "a tuple", out)?;
        for item in items.iter_borrowed() {
            write(&item, out, depth + 1)?;
        }
    } else if let Ok(map) = value.cast::<PyDict>() {
        // A copy, which no other thread can change between its count and its entries.
        let map = map.copy()?;
        head(map.len(), [0x80, 0xde, 0xdf], "a dict", out)?;
        for (key, item) in map.iter() {
            write(&key, out, depth + 1)?;
            write(&item, out, depth + 1)?;
        }
    } else if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
        let bytes = PyBuffer::<u8>::get(value)?.to_vec(value.py())?;
        head_of_bin(bytes.len(), out)?;
        out.extend_from_slice(&bytes);
    } else {
        return Err(SampleError::new_err(format!(
            "a value of type {} cannot be packed, expected None, bool, int, float, str, bytes, list, tuple or dict",
            value.get_type().fully_qualified_name()?
        )));
    }
    Ok(())
}

fn integer(value: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> PyResult<()> {
    if let Ok(value) = value.extract::<i64>() {
        match value {
            -32..=127 => out.push(value as u8),
            -0x80..-0x20 => out.extend_from_slice(&[0xd0, value as u8]),
            -0x8000..-0x80 => {
                out.push(0xd1);
                out.extend_from_slice(&(value as i16).to_be_bytes());
            }
            -0x8000_0000..-0x8000 => {
                out.push(0xd2);
                out.extend_from_slice(&(value as i32).to_be_bytes());
            }
            ..-0x8000_0000 => {
                out.push(0xd3);
                out.extend_from_slice(&value.to_be_bytes());
            }
            0x80..=0xff => out.extend_from_slice(&[0xcc, value as u8]),
            0x100..=0xffff => {
                out.push(0xcd);
                out.extend_from_slice(&(value as u16).to_be_bytes());
            }
            0x1_0000..=0xffff_ffff => {
                out.push(0xce);
                out.extend_from_slice(&(value as u32).to_be_bytes());
            }
            0x1_0000_0000.. => {
                out.push(0xcf);
                out.extend_from_slice(&value.to_be_bytes());
            }
        }
    } else if let Ok(value) = value.extract::<u64>() {
        out.push(0xcf);
        out.extend_from_slice(&value.to_be_bytes());
    } else {
        return Err(SampleError::new_err(format!(
            "the integer {value} does not fit in 64 bits, expected -2**63 to 2**64 - 1"
        )));
    }
    Ok(())
}

fn head_of_string(size: usize, out: &mut Vec<u8>) -> PyResult<()> {
    match size {
        0..=31 => out.push(0xa0 | size as u8),
        32..=0xff => out.extend_from_slice(&[0xd9, size as u8]),
        _ => wide(size, [0xda, 0xdb], "a string", out)?,
    }
    Ok(())
}

fn head_of_bin(size: usize, out: &mut Vec<u8>) -> PyResult<()> {
    match size {
        0..=0xff => out.extend_from_slice(&[0xc4, size as u8]),
        _ => wide(size, [0xc5, 0xc6], "a value of bytes", out)?,
    }
    Ok(())
}

/// The head of an array or a map: the count in the first byte's low half, or in 16 or 32 bits.
fn head(count: usize, codes: [u8; 3], what: &str, out: &mut Vec<u8>) -> PyResult<()> {
    match count {
        0..=15 => out.push(codes[0] | count as u8),
        _ => wide(count, [codes[1], codes[2]], what, out)?,
    }
    Ok(())
}

fn wide(size: usize, codes: [u8; 2], what: &str, out: &mut Vec<u8>) -> PyResult<()> {
    if let Ok(size) = u16::try_from(size) {
        out.push(codes[0]);
        out.extend_from_slice(&size.to_be_bytes());
    } else if let Ok(size) = u32::try_from(size) {
        out.push(codes[1]);
        out.extend_from_slice(&size.to_be_bytes());
    } else {
        return Err(SampleError::new_err(format!(
            "{what} of size {size} does not fit in msgpack, expected at most 2**32 - 1"
        )));
    }
    Ok(())
}

fn refused(error: MsgpackError) -> PyErr {
    SampleError::new_err(error.to_string())
}
