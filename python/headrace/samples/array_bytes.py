"""Arrays as bytes: the compact form, and reading `.npy`.

The compact form, integers little-endian:

    u8 n | dtype in ASCII, n bytes, as "<f4" | u8 ndim | ndim x i64 | elements in C order

The dtype is NumPy's `dtype.str`; a type that NumPy itself does not have is written by its name ("bfloat16"), since its
`str` says only how many bytes it takes. Structured dtypes are written as `.npy`, which can name their fields. Bytes
that begin with `\\x93NUMPY` are `.npy`.
"""

from __future__ import annotations

import ast
import importlib
import io
import math
import re
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headrace.errors import SampleError

__all__ = ["array_from_bytes", "array_or_bytes", "array_to_bytes"]

NPY = b"\x93NUMPY"
PLAIN = re.compile(r"[<>|=]?(?:[biufcSUV][0-9]{1,9}|[mM]8(?:\[[0-9]*[A-Za-zμ]+(?:/[0-9]+)?\])?|\?)")
EXTENSION = re.compile(r"(?:bfloat16|float[0-9]+_[a-z0-9]+|u?int[0-9])")
NPY_HEADER_LIMIT = 1 << 16
# Below this an array is copied once more rather than viewed as bytes.
SMALL = 4096
CACHED = 4096

Layout = tuple["np.dtype[Any]", tuple[int, ...], int, int]
layouts: dict[bytes, Layout] = {}
"""Header of the compact form -> dtype, shape, where the elements begin, size of the whole."""
headers: dict[tuple[np.dtype[Any], tuple[int, ...]], bytes] = {}


def array_to_bytes(array: NDArray[Any]) -> bytes:
    """The array in the compact form, or `.npy` where its dtype is structured.

    Raises:
        SampleError: the dtype holds Python objects, or the array is masked.
    """
    dtype = array.dtype
    if dtype.hasobject:
        raise SampleError(
            f"expected an array of numbers, text or bytes, found dtype {dtype}: convert it to a concrete dtype",
            expected="a dtype without objects",
            found=str(dtype),
        )
    if isinstance(array, np.ma.MaskedArray):
        raise SampleError(
            "expected a plain array, found a masked one: fill it first (`array.filled(value)`)",
            expected="a plain array",
            found="a masked array",
        )
    if dtype.names is not None or dtype.subdtype is not None:
        file = io.BytesIO()
        np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
        return file.getvalue()
    key = (dtype, array.shape)
    # A dtype's metadata and alignment leave it equal, and do not show in the header.
    header = headers.get(key)
    if header is None:
        name = (dtype.str if dtype.type.__module__ == "numpy" else dtype.name).encode()
        header = struct.pack(f"<B{len(name)}sB{array.ndim}q", len(name), name, array.ndim, *array.shape)
        if len(headers) >= CACHED:
            headers.clear()
        headers[key] = header
    if array.nbytes > SMALL and array.flags.c_contiguous:
        return b"".join((header, np.asarray(array).reshape(-1).view(np.uint8).data))
    return header + array.tobytes()


def array_from_bytes(data: bytes, *, copy: bool = True) -> NDArray[Any]:
    """The array in the bytes, which it must fill exactly.

    Args:
        data: the compact form or `.npy`.
        copy: a new, aligned and writable array; else a read-only view into `data`, which may be unaligned.

    Raises:
        SampleError: the bytes are neither, or say of dtype, dimensions or size what is not so.
    """
    dtype, shape, offset, size = layout_of(data)
    if size != len(data):
        raise SampleError(f"an array of {dtype} {shape} takes {size} bytes with its header, found {len(data)}")
    order: Any = "C"
    if offset < 0:
        order, offset = "F", -offset
    try:
        view: NDArray[Any] = np.ndarray(shape, dtype, data, offset, None, order)
    except (ValueError, TypeError) as error:
        raise SampleError(f"no array can be made of dtype {dtype} and shape {shape}: {error}") from None
    return view.copy(order) if copy else view


def array_or_bytes(data: bytes) -> NDArray[Any] | bytes:
    """The array where the bytes are exactly one, else the bytes: for members that no schema describes."""
    if len(data) < 4 or not (data[0] in range(2, 24) or data[0] == NPY[0]):
        return data
    try:
        return array_from_bytes(data)
    except SampleError:
        return data


def layout_of(data: bytes) -> Layout:
    """What the header says; a negative offset marks Fortran order."""
    if data[:6] == NPY:
        return layout_of_npy(data)
    if len(data) < 2:
        raise SampleError(f"expected an array of at least 2 bytes, found {len(data)}")
    begin = 2 + data[0]
    if len(data) < begin:
        raise SampleError(f"expected an array whose dtype takes {data[0]} bytes, found {len(data)} bytes in all")
    offset = begin + 8 * data[begin - 1]
    header = data[:offset]
    layout = layouts.get(header)
    if layout is None:
        if len(data) < offset:
            raise SampleError(f"an array of {data[begin - 1]} dimensions needs {offset} bytes, found {len(data)}")
        dtype = dtype_of(data[1 : begin - 1])
        shape = struct.unpack_from(f"<{data[begin - 1]}q", data, begin)
        layout = (dtype, shape, offset, offset + size_of(dtype, shape))
        if len(layouts) >= CACHED:
            layouts.clear()
        layouts[header] = layout
    return layout


def dtype_of(name: bytes) -> np.dtype[Any]:
    """The dtype of a header's text: NumPy's own short forms, or a name that ml_dtypes knows."""
    text = name.decode("utf-8", "replace")
    try:
        if PLAIN.fullmatch(text):
            return np.dtype(text)
        if EXTENSION.fullmatch(text):
            found: np.dtype[Any] = np.dtype(getattr(importlib.import_module("ml_dtypes"), text))
            return found
    except ImportError:
        raise SampleError(f"an array of {text} needs the package ml_dtypes, which is not installed") from None
    except (TypeError, ValueError, AttributeError, OverflowError):
        pass
    raise SampleError(f"expected an array's dtype, as '<f4', found {text[:40]!r}")


def size_of(dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    if any(dim < 0 for dim in shape):
        raise SampleError(f"an array's dimensions are at least 0, found {shape}")
    return math.prod(shape) * dtype.itemsize


def layout_of_npy(data: bytes) -> Layout:
    """Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html"""
    version = data[6:8]
    width = {b"\x01\x00": 2, b"\x02\x00": 4, b"\x03\x00": 4}.get(version)
    if width is None:
        raise SampleError(f"expected .npy of version 1.0, 2.0 or 3.0, found {list(version)}")
    offset = 8 + width + int.from_bytes(data[8 : 8 + width], "little")
    if offset > min(len(data), NPY_HEADER_LIMIT):
        raise SampleError(f"expected .npy with its header in {len(data)} bytes, it announces {offset}")
    try:
        text = data[8 + width : offset].decode("utf-8" if version == b"\x03\x00" else "latin-1")
        told = ast.literal_eval(text.strip())
        dtype = np.lib.format.descr_to_dtype(told["descr"])
        shape, fortran = told["shape"], told["fortran_order"]
    except (ValueError, TypeError, SyntaxError, KeyError, IndexError, MemoryError, RecursionError):
        raise SampleError("the header of this .npy cannot be read") from None
    if not isinstance(shape, tuple) or not all(type(dim) is int for dim in shape) or not isinstance(fortran, bool):
        raise SampleError(f"the header of this .npy tells no shape: {shape!r}")
    if dtype.hasobject:
        raise SampleError(f"this .npy holds Python objects (dtype {dtype}), which are not read")
    size = size_of(dtype, shape)
    return dtype, shape, -offset if fortran else offset, offset + size
