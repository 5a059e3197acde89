"""Arrays as bytes: every dtype and layout comes back, and headers that lie are refused."""

import contextlib
import io
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from headrace.errors import SampleError
from headrace.samples.array_bytes import array_from_bytes, array_or_bytes, array_to_bytes
from headrace.samples.equality import same

dtypes = (
    hnp.boolean_dtypes()
    | hnp.integer_dtypes(endianness="?")
    | hnp.floating_dtypes(endianness="?")
    | hnp.complex_number_dtypes(endianness="?")
    | hnp.datetime64_dtypes(endianness="?")
    | hnp.timedelta64_dtypes(endianness="?")
    | hnp.unicode_string_dtypes(endianness="?")
    | hnp.byte_string_dtypes()
)
arrays = dtypes.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0, max_dims=4)))


def identical(left: Any, right: Any) -> bool:
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


@settings(max_examples=300)
@given(arrays, st.sampled_from("CF"))
def test_arrays_come_back(array: Any, order: Any) -> None:
    array = np.asarray(array, order=order)
    again = array_from_bytes(array_to_bytes(array))
    assert identical(again, array)
    assert again.flags.writeable and again.flags.aligned and again.flags.owndata
    assert identical(array_or_bytes(array_to_bytes(array)), array)


@given(arrays, st.sampled_from("CF"))
def test_npy_is_read(array: Any, order: Any) -> None:
    file = io.BytesIO()
    np.save(file, np.asarray(array, order=order))
    assert identical(array_from_bytes(file.getvalue()), array)


def test_the_form_is_what_the_documentation_says() -> None:
    assert array_to_bytes(np.array([[1, 2]], "<i2")) == b"\x03<i2\x02" + struct.pack("<qq", 1, 2) + b"\1\0\2\0"


def test_strides_and_large_arrays() -> None:
    base = np.arange(40_000, dtype=np.float32).reshape(200, 200)
    for view in (base, base.T, base[::2, ::-3], np.broadcast_to(base[0], (3, 200)), np.asfortranarray(base)):
        assert identical(array_from_bytes(array_to_bytes(view)), np.ascontiguousarray(view))


def test_structured_arrays_are_npy() -> None:
    array = np.array([(1, 2.5, "é")], dtype=[("a", "<i4"), ("b", ">f8"), ("é", "<U3")])
    data = array_to_bytes(array)
    assert data.startswith(b"\x93NUMPY") and identical(array_from_bytes(data), array)


def test_bfloat16_is_written_by_name() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.arange(6).astype(ml_dtypes.bfloat16).reshape(2, 3)
    data = array_to_bytes(array)
    assert data.startswith(b"\x08bfloat16\x02") and identical(array_from_bytes(data), array)


def test_a_view_is_not_copied() -> None:
    data = array_to_bytes(np.arange(10))
    assert not array_from_bytes(data, copy=False).flags.writeable


@pytest.mark.parametrize("array", [np.array([None]), np.array([{}]), np.array([(1, None)], dtype="i4,O")])
def test_objects_are_refused(array: Any) -> None:
    with pytest.raises(SampleError, match=r"without objects|convert it"):
        array_to_bytes(array)


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(SampleError, match="masked"):
        array_to_bytes(np.ma.array([1, 2], mask=[True, False]))


def compact(dtype: bytes, *dims: int, data: bytes = b"") -> bytes:
    return bytes([len(dtype)]) + dtype + bytes([len(dims)]) + struct.pack(f"<{len(dims)}q", *dims) + data


LIES = {
    "empty": b"",
    "one byte": b"\x03",
    "cut in the dtype": b"\x03<f",
    "cut before the dimensions": b"\x03<f4",
    "cut in the dimensions": compact(b"<f4", 1)[:-1],
    "no dtype": compact(b"", 1, data=bytes(8)),
    "unknown dtype": compact(b"<q9", 1, data=bytes(9)),
    "object dtype": compact(b"|O", 1, data=bytes(8)),
    "object dtype with a size": compact(b"|O8", 1, data=bytes(8)),
    "structured dtype": compact(b"i4,i4", 1, data=bytes(8)),
    "structured with objects": compact(b"i4,O", 1, data=bytes(12)),
    "a Python name": compact(b"object", 1, data=bytes(8)),
    "not ASCII": compact(b"\xff\xfe", 1, data=bytes(8)),
    "too large a type": compact(b"<U999999999", 1, data=bytes(4)),
    "negative dimension": compact(b"<f4", -1, data=bytes(4)),
    "two negative dimensions": compact(b"<f4", -1, -1, data=bytes(4)),
    "more elements than bytes": compact(b"<f4", 3, data=bytes(8)),
    "fewer elements than bytes": compact(b"<f4", 1, data=bytes(8)),
    "overflow": compact(b"<f4", 2**62, 2**62, data=bytes(16)),
    "overflow to zero": compact(b"<f8", 2**32, 2**32, data=b""),
    "empty and too large": compact(b"<f4", 0, 2**62, 2**62, data=b""),
    "255 dimensions": compact(b"<f4", *[1] * 255, data=bytes(4)),
}


@pytest.mark.parametrize("data", LIES.values(), ids=LIES.keys())
def test_headers_that_lie_are_refused(data: bytes) -> None:
    for _ in range(2):  # the second time from what is remembered of the header
        with pytest.raises(SampleError):
            array_from_bytes(data)
    assert array_or_bytes(data) is data


def npy(header: bytes, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    size = len(header).to_bytes(2 if version == b"\x01\x00" else 4, "little")
    return b"\x93NUMPY" + version + size + header + data


@pytest.mark.parametrize(
    "data",
    [
        b"\x93NUMPY",
        npy(b""),
        npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2**40,)}"),
        npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }"),
        npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", bytes(8)),
        npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", bytes(4)),
        npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (True,), }", bytes(4)),
        npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': 1, }", bytes(4)),
        npy(b"{'descr': '<f4', 'fortran_order': 3, 'shape': (1,), }", bytes(4)),
        npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", bytes(5)),
        npy(b"[" * 5000),
        npy(b"__import__('os')"),
        npy(b"{}", version=b"\x09\x00"),
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
    ],
)
def test_npy_that_lies_is_refused(data: bytes) -> None:
    with pytest.raises(SampleError):
        array_from_bytes(data)
    assert array_or_bytes(data) is data


@given(st.binary(max_size=80))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    try:
        array_from_bytes(data)
    except SampleError:
        assert array_or_bytes(data) is data


@settings(max_examples=300)
@given(arrays, st.data())
def test_damaged_bytes_are_refused_or_an_array(array: Any, data: st.DataObject) -> None:
    whole = bytearray(array_to_bytes(array))
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(SampleError):
        array_from_bytes(bytes(whole))


def test_equality() -> None:
    one = np.arange(3)
    assert same(one, one.copy()) and not same(one, one.astype(float)) and not same(one, one.reshape(3, 1))
    assert same([one, {"a": (one,)}], [one.copy(), {"a": (one.copy(),)}])
    assert not same([one], (one,)) and not same({"a": one}, {"b": one}) and not same(one, 3) and not same(3, one)
    nan = np.array([np.nan])
    assert same(nan, nan) and not same(nan, nan.copy())
