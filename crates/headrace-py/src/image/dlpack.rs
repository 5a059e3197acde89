//! DLPack capsules over memory that Rust owns.
//!
//! # Soundness
//!
//! A capsule holds one `Managed<T>` made by `Box::into_raw`: the tensor struct is its first field (`repr(C)`), its
//! `shape` and `strides` point into boxed slices of the same box, and `owner` keeps the memory behind `data`. The box is
//! freed exactly once: by the struct's deleter, which the consumer calls when it renamed the capsule (DLPack's
//! protocol), or which the capsule's destructor calls while it still bears its first name. The deleter may run on any
//! thread, without the interpreter: the owners are `Send` and hold no Python object.
#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{CStr, c_void};

use headrace_core::image::Dtype;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

pub const CPU: (i32, i32) = (1, 0);

const LEGACY: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct LegacyTensor {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut LegacyTensor)>,
}

#[repr(C)]
struct VersionedTensor {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut VersionedTensor)>,
    flags: u64,
    tensor: Tensor,
}

#[repr(C)]
struct Managed<T> {
    managed: T,
    _shape: Box<[i64]>,
    _strides: Box<[i64]>,
    _owner: Box<dyn Any + Send>,
}

/// What a consumer is told about the memory.
pub struct View {
    pub address: usize,
    pub shape: Vec<usize>,
    pub dtype: Dtype,
    pub read_only: bool,
    pub copied: bool,
}

/// Refuses what memory of the CPU cannot give.
pub fn check(stream: Option<&Bound<'_, PyAny>>, device: Option<(i32, i32)>) -> PyResult<()> {
    if stream.is_some() {
        return Err(PyBufferError::new_err(
            "the values are in the CPU's memory, which has no streams: expected stream=None",
        ));
    }
    match device {
        None | Some(CPU) => Ok(()),
        Some(other) => Err(PyBufferError::new_err(format!(
            "the values are in the CPU's memory: expected dl_device=(1, 0), found {other:?}"
        ))),
    }
}

/// A capsule that keeps `owner`: versioned for a consumer that knows DLPack 1.0, else the older kind.
pub fn capsule<'py>(
    py: Python<'py>,
    view: View,
    owner: Box<dyn Any + Send>,
    max_version: Option<(u32, u32)>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut shape: Box<[i64]> = view.shape.iter().map(|&length| length as i64).collect();
    let mut strides: Box<[i64]> = vec![1; shape.len()].into();
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    let (code, bits) = match view.dtype {
        Dtype::U8 => (1, 8),
        Dtype::U16 => (1, 16),
        Dtype::F32 => (2, 32),
    };
    let tensor = Tensor {
        data: view.address as *mut c_void,
        device_type: CPU.0,
        device_id: CPU.1,
        ndim: shape.len() as i32,
        code,
        bits,
        lanes: 1,
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let versioned = max_version.is_some_and(|(major, _)| major >= 1);
    if versioned {
        let flags =
            if view.read_only { READ_ONLY } else { 0 } | if view.copied { IS_COPIED } else { 0 };
        let managed = VersionedTensor {
            major: 1,
            minor: 0,
            context: std::ptr::null_mut(),
            deleter: Some(delete_versioned),
            flags,
            tensor,
        };
        let raw = Box::into_raw(Box::new(Managed {
            managed,
            _shape: shape,
            _strides: strides,
            _owner: owner,
        }));
        // SAFETY: `raw` is fresh, and nothing else frees it when no capsule is made.
        unsafe { wrap(py, raw.cast(), VERSIONED, drop_versioned) }
            .inspect_err(|_| unsafe { delete_versioned(raw.cast()) })
    } else {
        let managed = LegacyTensor {
            tensor,
            context: std::ptr::null_mut(),
            deleter: Some(delete_legacy),
        };
        let raw = Box::into_raw(Box::new(Managed {
            managed,
            _shape: shape,
            _strides: strides,
            _owner: owner,
        }));
        // SAFETY: as above.
        unsafe { wrap(py, raw.cast(), LEGACY, drop_legacy) }
            .inspect_err(|_| unsafe { delete_legacy(raw.cast()) })
    }
}

/// # Safety
/// `raw` is what `destructor` frees.
unsafe fn wrap<'py>(
    py: Python<'py>,
    raw: *mut c_void,
    name: &CStr,
    destructor: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: attached to the interpreter; the name is static; the result is a new reference or null with an error set.
    unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(raw, name.as_ptr(), Some(destructor)))
    }
}

unsafe extern "C" fn delete_legacy(raw: *mut LegacyTensor) {
    // SAFETY: first field of a `Managed` from `Box::into_raw`; called once.
    drop(unsafe { Box::from_raw(raw.cast::<Managed<LegacyTensor>>()) });
}

unsafe extern "C" fn delete_versioned(raw: *mut VersionedTensor) {
    // SAFETY: as above.
    drop(unsafe { Box::from_raw(raw.cast::<Managed<VersionedTensor>>()) });
}

unsafe extern "C" fn drop_legacy(capsule: *mut ffi::PyObject) {
    // SAFETY: called by the interpreter on a capsule of ours; a consumed one bears another name and is left alone.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, LEGACY.as_ptr()) == 1 {
            delete_legacy(ffi::PyCapsule_GetPointer(capsule, LEGACY.as_ptr()).cast());
        }
    }
}

unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: as above.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) == 1 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr()).cast());
        }
    }
}
