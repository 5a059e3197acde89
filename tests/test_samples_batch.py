"""`SampleBatch`: fields over a batch as columns."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from headrace import DictSample, PackableSample, SampleBatch, Shape
from headrace.errors import SampleError


class Item(PackableSample):
    image: Annotated[NDArray[np.uint8], Shape(2, "W")]
    label: str
    count: int
    weight: float = 0.0
    flag: bool = False
    mask: NDArray[Any] | None = None


class More(Item):
    extra: int = 7


def items(count: int, type_: Any = Item) -> list[Any]:
    return [type_(np.full((2, 3), n, np.uint8), str(n), n, weight=n, flag=n % 2 == 0) for n in range(count)]


@pytest.mark.parametrize("type_", [Item, More])
@pytest.mark.parametrize("count", [1, 4])
def test_columns(type_: Any, count: int) -> None:
    batch = SampleBatch(items(count, type_))
    assert batch.image.shape == (count, 2, 3) and batch.image.dtype == np.uint8
    assert batch.label == [str(n) for n in range(count)]
    assert batch.count.dtype == np.int64 and batch.weight.dtype == np.float64 and batch.flag.dtype == np.bool_
    assert batch.mask == [None] * count
    assert batch.image is batch.image
    assert len(batch) == count and batch.sample_type is type_ and list(batch) == items(count, type_)
    assert list(batch.to_dict()) == list(type_.schema().fields)
    with pytest.raises(AttributeError, match=r"no field 'other'; it has \['image'"):
        _ = batch.other


def test_slices_and_places() -> None:
    batch = SampleBatch(items(5))
    part = batch[1:4:2]
    assert isinstance(part, SampleBatch) and part.label == ["1", "3"] and len(part) == 2
    assert batch[-1] == items(5)[-1] and len(batch[5:]) == 0 and batch[:2] == SampleBatch(items(2))
    with pytest.raises(IndexError):
        _ = batch[5]


def test_ragged_arrays() -> None:
    ragged = [DictSample(a=np.ones((n, 2), np.int16)) for n in (1, 3)]
    column = SampleBatch(ragged).a
    assert isinstance(column, list) and [value.shape for value in column] == [(1, 2), (3, 2)]
    padded = SampleBatch(ragged, pad=-1).a
    assert padded.dtype == np.int16 and padded.shape == (2, 3, 2)
    assert padded[0].tolist() == [[1, 1], [-1, -1], [-1, -1]]
    other = SampleBatch([DictSample(a=np.ones(2)), DictSample(a=np.ones((2, 2)))], pad=0).a
    assert isinstance(other, list)


def test_none_among_the_values() -> None:
    samples = items(2)
    samples[1].mask = np.zeros(2)
    column = SampleBatch(samples).mask
    assert column[0] is None and isinstance(column[1], np.ndarray)
    assert SampleBatch([DictSample(a=1), DictSample(a=None)]).a == [1, None]


def test_an_empty_batch() -> None:
    batch = SampleBatch[Item]([])
    assert batch.image.shape == (0, 2, 0) and batch.image.dtype == np.uint8 and batch.count.dtype == np.int64
    assert batch.label == [] and batch.mask == [] and len(batch) == 0 and list(batch) == []
    assert SampleBatch[DictSample]([]).to_dict() == {} and SampleBatch(items(3))[3:].image.shape == (0, 2, 0)


def test_samples_with_different_fields() -> None:
    batch = SampleBatch([DictSample(a=1), DictSample(a=2, b="x")])
    assert batch.a.tolist() == [1, 2] and batch.b == [None, "x"]
    with pytest.raises(AttributeError, match="no field 'c'"):
        _ = batch.c


def test_numbers() -> None:
    def column(*values: Any) -> Any:
        return SampleBatch([DictSample(x=value) for value in values]).x

    assert column(1, 2).dtype == np.int64 and column(1, 2**63).dtype == np.uint64
    assert column(-1, 2**63) == [-1, 2**63]
    assert column(1, 2.5).dtype == np.float64 and column(True, False).dtype == np.bool_
    assert column(True, 1) == [True, 1] and column("a", 1) == ["a", 1]


def test_a_field_comes_before_a_member_of_its_name() -> None:
    batch = SampleBatch([DictSample({"to_dict": n, "sample_type": "x", "from_columns": n}) for n in range(2)])
    assert batch.to_dict.tolist() == [0, 1] and batch.sample_type == ["x", "x"]
    assert list(SampleBatch.to_dict(batch)) == ["to_dict", "sample_type", "from_columns"]


def test_columns_that_are_made_already() -> None:
    whole = SampleBatch(items(3))
    batch = SampleBatch.from_columns(Item, whole.to_dict(), 3)
    assert batch.image is whole.image and list(batch) == items(3) and type(batch[0].count) is int
    assert batch[1:].label == ["1", "2"] and batch.sample_type is Item
    assert list(SampleBatch.from_columns(DictSample, {"a": np.arange(2)}, 2)) == [DictSample(a=0), DictSample(a=1)]
    with pytest.raises(SampleError, match="column 'a': expected 3 values, found 2"):
        SampleBatch.from_columns(DictSample, {"a": [1, 2]}, 3)


def test_arrow() -> None:
    pytest.importorskip("pyarrow")
    samples = items(2)
    samples[0].mask = np.zeros(2)
    table = SampleBatch(samples).to_arrow()
    assert table.column_names == list(Item.schema().fields) and table.num_rows == 2
    assert table["image"].to_pylist() == [sample.image.tolist() for sample in samples]
    assert table["mask"].to_pylist() == [[0.0, 0.0], None] and table["count"].to_pylist() == [0, 1]
