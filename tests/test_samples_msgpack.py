"""The native msgpack: everything it writes comes back, and nothing that lies is believed."""

import contextlib
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace import _native
from headrace.errors import SampleError

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8"), max_size=300)
    | st.binary(max_size=300)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=40), inner, max_size=20),
    max_leaves=40,
)


@given(values)
def test_what_is_packed_comes_back(value: Any) -> None:
    again = _native.unpack(_native.pack(value))
    assert again == value and repr(again) == repr(value)


@pytest.mark.parametrize("size", [0, 15, 16, 31, 32, 255, 256, 65_535, 65_536])
def test_sizes_at_the_edges_of_each_head(size: int) -> None:
    for value in ("x" * size, b"x" * size, [None] * size, {str(n): n for n in range(size)}):
        assert _native.unpack(_native.pack(value)) == value


def test_the_package_msgpack_reads_and_writes_the_same() -> None:
    msgpack = pytest.importorskip("msgpack")

    @given(values)
    def both(value: Any) -> None:
        assert _native.pack(value) == msgpack.packb(value)
        assert _native.unpack(msgpack.packb(value)) == value

    both()


@pytest.mark.parametrize("view", [bytes, bytearray, memoryview])
def test_any_bytes_are_read(view: Any) -> None:
    assert _native.unpack(view(b"\x93\x01\x02\x03")) == [1, 2, 3]
    assert _native.unpack(_native.pack(view(b"abc"))) == b"abc"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "cut at byte 0: a value needs 1 more bytes"),
        (b"\x91" * 10_000 + b"\xc0", "nested deeper than 256 levels at byte 256"),
        (b"\xdf\xff\xff\xff\xff\x01", "a map at byte 0 announces 4294967295 elements"),
        (b"\xdd\xff\xff\xff\xff\x01", "an array at byte 0 announces 4294967295 elements"),
        (b"\xc6\xff\xff\xff\xff\x01", "a bin needs 4294967295 more bytes, 1 are left"),
        (b"\xd4\x07\x00", "ext type 7 at byte 0: ext types are not read"),
        (b"\xd6\xff" + struct.pack(">I", 0), "ext type -1"),
        (b"\xc8\x00\x01\x05\x00", "ext type 5"),
        (b"\xc1", "0xc1"),
        (b"\xa2\xff\xff", "not UTF-8"),
        (b"\xc0\xc0", "the value ends at byte 1, and 1 bytes follow it"),
        (b"\x82\xa1a\x01\xa1a\x02", "names a key twice"),
        (b"\x81\x90\x01", "the key at byte 1 is an array or a map"),
    ],
)
def test_what_is_no_sample_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        _native.unpack(data)


@given(st.binary(max_size=60))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    with contextlib.suppress(SampleError):
        _native.unpack(data)


@given(values, st.data())
def test_every_cut_is_told(value: Any, data: st.DataObject) -> None:
    whole = _native.pack(value)
    with pytest.raises(SampleError, match=r"cut at|announces"):
        _native.unpack(whole[: data.draw(st.integers(0, len(whole) - 1))])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (2**64, "does not fit in 64 bits"),
        (-(2**63) - 1, "does not fit in 64 bits"),
        ("\ud800", "surrogate"),
        ({1, 2}, "type set cannot be packed"),
        (object(), "type object cannot be packed"),
    ],
)
def test_what_msgpack_cannot_hold_is_refused(value: Any, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        _native.pack(value)


def test_a_list_in_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(SampleError, match="nested deeper than 256"):
        _native.pack(loop)
