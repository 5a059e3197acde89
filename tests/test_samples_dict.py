"""`DictSample`: fields without a class."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import headrace
from headrace import DictSample, LensNetwork, _native, packable
from headrace.errors import SampleError


@packable
class Item:
    image: NDArray[np.float32]
    raw: bytes
    label: int = 0


def test_access() -> None:
    sample = DictSample({"a": 1}, b=np.arange(3))
    assert sample.a == sample["a"] == 1 and sample.get("z", 5) == 5
    assert list(sample) == list(sample.keys()) == ["a", "b"] and len(sample) == 2 and "a" in sample
    assert [name for name, _ in sample.items()] == ["a", "b"] and next(iter(sample.values())) == 1
    assert sample.to_dict() is not sample.to_dict()
    sample.c = 3
    assert sample["c"] == 3
    with pytest.raises(AttributeError, match=r"no field 'z'; it has \['a', 'b', 'c'\]"):
        _ = sample.z
    with pytest.raises(KeyError, match="no field 'z'"):
        _ = sample["z"]
    assert repr(DictSample(a="x", b=np.zeros((2, 3), "u1"))) == "DictSample(a='x', b=<uint8 (2, 3)>)"


def test_a_field_hides_a_member_of_its_name() -> None:
    names = ["keys", "items", "get", "packed", "as_wds", "to_dict", "from_bytes", "pack", "_DictSample__raw"]
    sample = DictSample({name: place for place, name in enumerate(names)})
    assert [getattr(sample, name) for name in names[:-1]] == list(range(len(names) - 1))
    assert DictSample.from_bytes(headrace.pack(sample)) == sample
    assert [sample[name] for name in names] == list(range(len(names)))


def test_bytes_that_are_an_array_come_as_one_where_nothing_says_otherwise() -> None:
    array = np.arange(3, dtype=">i4")
    data = headrace.pack(DictSample(a=array, b=b"abcd", c=3))
    sample = DictSample.from_bytes(data)
    assert isinstance(sample.a, np.ndarray) and sample.a.dtype == ">i4" and sample.b == b"abcd"
    assert sample.packed == data and sample.as_wds["msgpack"] == data


def test_a_schema_says_what_is_an_array() -> None:
    looks = _native.unpack(headrace.pack(DictSample(a=np.zeros(2))))["a"]
    item = Item(np.zeros(2, np.float32), looks)
    data = headrace.pack(item)
    told = DictSample.from_bytes(data, schema=headrace.schema(Item))
    assert told.raw == looks and isinstance(told.image, np.ndarray)
    guessed = DictSample.from_bytes(data)
    assert isinstance(guessed.raw, np.ndarray)
    # The bytes are not lost, whichever way the sample goes on.
    assert headrace.pack(guessed) == data
    for sample in (guessed, copy.copy(guessed), pickle.loads(pickle.dumps(guessed))):
        assert LensNetwork().find(DictSample, Item).get(sample) == item
    guessed.raw = b"new"
    assert LensNetwork().find(DictSample, Item).get(guessed).raw == b"new"


def test_an_npy_that_was_not_changed_is_packed_as_it_was() -> None:
    import io

    file = io.BytesIO()
    np.save(file, np.arange(4))
    sample = DictSample.from_bytes(_native.pack({"a": file.getvalue()}))
    assert _native.unpack(sample.packed)["a"] == file.getvalue()
    sample.a[0] = 9
    again = DictSample.from_bytes(sample.packed)
    assert again.a[0] == 9


@pytest.mark.parametrize("value", [{1: 2}, object(), np.array([None]), {"a": {1, 2}}])
def test_what_cannot_be_packed_is_refused_with_its_field(value: Any) -> None:
    with pytest.raises(SampleError, match=r"DictSample\.field"):
        headrace.pack(DictSample(field=value))


def test_what_is_no_map_is_refused() -> None:
    with pytest.raises(SampleError, match="expected a map of fields"):
        DictSample.from_bytes(b"\x01")
    with pytest.raises(SampleError, match="strings for the names"):
        DictSample.from_bytes(b"\x81\x01\x02")


def test_equality() -> None:
    assert DictSample(a=np.zeros(2)) == DictSample(a=np.zeros(2)) != DictSample(a=np.ones(2))
    assert DictSample() != 3
    with pytest.raises(TypeError):
        hash(DictSample())
