"""`default_collate`: torch's structure in NumPy arrays."""

import collections
import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

from headrace import DataLoader, default_collate


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Sample:
    image: Any
    label: Any


@dataclasses.dataclass(frozen=True)
class Frozen:
    value: Any


def check(array, values, kind=None):
    assert isinstance(array, np.ndarray)
    np.testing.assert_array_equal(array, values)
    if kind is not None:
        assert array.dtype == kind


def test_numbers():
    check(default_collate([1, 2, 3]), [1, 2, 3], np.int64)
    check(default_collate([1.0, 2.5]), [1.0, 2.5], np.float64)
    check(default_collate([True, False]), [True, False], np.bool_)
    check(default_collate([np.float32(1), np.float32(2)]), [1, 2], np.float32)
    check(default_collate([np.uint8(1), np.uint8(255)]), [1, 255], np.uint8)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int16", "bool", "complex64", ">f4", "datetime64[s]"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 4), (0, 2)])
def test_arrays(dtype, shape):
    arrays = [np.full(shape, i % 2).astype("int64").astype(dtype) for i in range(4)]
    batch = default_collate(arrays)
    check(batch, np.stack(arrays))
    assert batch.shape == (4, *shape)
    assert batch.flags.writeable


def test_the_batch_is_a_new_array():
    arrays = [np.zeros(3)]
    default_collate(arrays)[:] = 1
    assert arrays[0].sum() == 0


def test_arrays_that_are_not_contiguous():
    base = np.arange(24).reshape(4, 6)
    check(default_collate([base.T, base.T]), np.stack([base.T, base.T]))
    check(default_collate([base[::2, ::-1], base[::2, ::-1]]), np.stack([base[::2, ::-1]] * 2))


def test_strings_and_bytes_become_lists():
    assert default_collate(["a", "bc"]) == ["a", "bc"]
    assert default_collate([b"a", b""]) == [b"a", b""]


def test_containers():
    batch = default_collate([{"x": 1, "n": {"s": "a"}}, {"x": 2, "n": {"s": "b"}}])
    assert isinstance(batch, dict)
    check(batch["x"], [1, 2])
    assert batch["n"] == {"s": ["a", "b"]}
    for kind in (tuple, list):
        pair = default_collate([kind([1, "a"]), kind([2, "b"])])
        assert type(pair) is list
        check(pair[0], [1, 2])
        assert pair[1] == ["a", "b"]


def test_named_tuples_and_dataclasses_keep_their_kind():
    point = default_collate([Point(1, np.zeros(2)), Point(2, np.ones(2))])
    assert type(point) is Point
    check(point.x, [1, 2])
    check(point.y, [[0, 0], [1, 1]])
    sample = default_collate([Sample(np.zeros(2), "a"), Sample(np.ones(2), "b")])
    assert type(sample) is Sample
    check(sample.image, [[0, 0], [1, 1]])
    assert sample.label == ["a", "b"]
    check(default_collate([Frozen(1), Frozen(2)]).value, [1, 2])


def test_an_ordered_dict_is_a_mapping():
    batch = default_collate([collections.OrderedDict(b=1, a=2)] * 2)
    assert list(batch) == ["b", "a"]


@pytest.mark.parametrize(
    "samples",
    [
        [np.zeros(2), np.zeros(3)],
        [(1, 2), (1,)],
        [{"a": 1}, {"b": 1}],
        [{"a": np.zeros(2)}, {"a": np.zeros((2, 1))}],
    ],
)
def test_samples_that_do_not_agree_are_refused(samples):
    with pytest.raises((ValueError, TypeError, KeyError)) as caught:
        default_collate(samples)
    assert str(caught.value)


def test_the_message_names_both_shapes():
    with pytest.raises(ValueError, match=r"(?s)2.*3"):
        default_collate([np.zeros(2), np.zeros(3)])


@pytest.mark.parametrize("sample", [object(), None, {1, 2}])
def test_what_does_not_stack_is_a_type_error(sample):
    with pytest.raises(TypeError):
        default_collate([sample, sample])


def test_tensors_stack_to_tensors():
    torch = pytest.importorskip("torch")
    batch = default_collate([{"x": torch.zeros(2), "y": 1}, {"x": torch.ones(2), "y": 2}])
    assert isinstance(batch["x"], torch.Tensor)
    assert batch["x"].shape == (2, 2)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_in_a_loader(num_workers):
    data = [{"image": np.full((2, 2), i, np.float32), "label": i} for i in range(5)]
    with DataLoader(data, 2, num_workers=num_workers, collate_fn=default_collate) as loader:
        batches = list(loader)
    assert [batch["image"].shape for batch in batches] == [(2, 2, 2), (2, 2, 2), (1, 2, 2)]
    assert [int(x) for batch in batches for x in batch["label"]] == list(range(5))


def test_without_batching_the_item_is_given_to_the_function():
    assert list(DataLoader([1, 2], batch_size=None, collate_fn=lambda item: -item)) == [-1, -2]
