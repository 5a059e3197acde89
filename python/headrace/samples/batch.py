"""`SampleBatch[T]`: samples, and their fields as columns."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from headrace.errors import SampleError
from headrace.samples.columns import column
from headrace.samples.dict_sample import DictSample
from headrace.samples.packable import is_packable, schema

__all__ = ["SampleBatch"]

T = TypeVar("T")


class SampleBatch(Generic[T]):
    """The samples of a batch. `batch.image` is the field over all of them.

    Arrays of one shape are stacked to `(batch, ...)`; ragged ones are a list, or padded. Numbers are an array; the
    rest, and fields where None is among the values, are lists. A column is made when it is first asked for, and kept.
    In a batch of `DictSample`s of which some lack a field, its column has None for those.

    Args:
        samples: the samples.
        pad: fills ragged arrays up to the largest of the batch, in the corner at 0.

    Example:
        >>> import headrace
        >>> @headrace.packable
        ... class Point:
        ...     x: float
        ...     name: str
        >>> batch = headrace.SampleBatch([Point(1.0, "a"), Point(2.0, "b")])
        >>> batch.x, batch.name, len(batch)
        (array([1., 2.]), ['a', 'b'], 2)
    """

    def __init__(self, samples: Sequence[T], *, pad: Any = None) -> None:
        self.__prepare(list(samples), None, len(samples), type(samples[0]) if samples else None, pad)

    @classmethod
    def from_columns(cls, sample_type: type[T], columns: Mapping[str, Any], length: int) -> SampleBatch[T]:
        """The batch of columns that are made already, one value a sample in each."""
        for name, values in columns.items():
            if len(values) != length:
                raise SampleError(f"column {name!r}: expected {length} values, found {len(values)}", field=name)
        batch = cls.__new__(cls)
        batch.__prepare(None, dict(columns), length, sample_type, None)
        return batch

    def __prepare(
        self, samples: list[T] | None, columns: dict[str, Any] | None, length: int, type_: Any, pad: Any
    ) -> None:
        self.__samples = samples
        self.__columns: dict[str, Any] = columns if columns is not None else {}
        self.__whole = columns is not None
        self.__length = length
        self.__type = type_
        self.__pad = pad
        # A field's name comes before a member's.
        for name in self.__names():
            if name in MEMBERS:
                vars(self)[name] = self.__column(name)

    if TYPE_CHECKING:

        @property
        def sample_type(self) -> Any:
            """The samples' class; None for an empty batch that does not know it."""

    def __type_of(self) -> Any:
        if self.__type is None:
            arguments = getattr(vars(self).get("__orig_class__"), "__args__", (None,))
            return arguments[0] if isinstance(arguments[0], type) else None
        return self.__type

    def __names(self) -> list[str]:
        if self.__whole:
            return list(self.__columns)
        type_ = self.__type_of()
        if is_packable(type_):
            return list(schema(type_).fields)
        return list(dict.fromkeys(name for sample in self.__samples or () for name in vars(sample)))

    def __column(self, name: str) -> Any:
        if name in self.__columns:
            return self.__columns[name]
        if name not in self.__names():
            raise AttributeError(f"the batch has no field {name!r}; it has {self.__names()}")
        type_ = self.__type_of()
        field = schema(type_).fields[name] if is_packable(type_) else None
        samples: Any = self.__samples or ()
        if type_ is DictSample:
            values = [vars(sample).get(name) for sample in samples]
        else:
            values = [getattr(sample, name) for sample in samples]
        made = self.__columns[name] = column(values, field=field, pad=self.__pad)
        return made

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_SampleBatch__") or name == "__orig_class__":
                raise AttributeError(name)
            # Here rather than a property, which would hide a field of that name.
            if name == "sample_type" and name not in self.__names():
                return self.__type_of()
            return self.__column(name)

    else:

        def __getattr__(self, name: str) -> Any: ...

    def __rows(self) -> list[T]:
        if self.__samples is None:
            names = list(self.__columns)
            rows = zip(*(self.__columns[name] for name in names), strict=True) if names else ((),) * self.__length
            made = [{name: value_of(value) for name, value in zip(names, row, strict=True)} for row in rows]
            type_: Any = self.__type
            samples: list[Any] = [type_(row) if type_ is DictSample else type_(**row) for row in made]
            self.__samples = samples
        return self.__samples

    def __len__(self) -> int:
        return self.__length

    def __iter__(self) -> Iterator[T]:
        return iter(self.__rows())

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> SampleBatch[T]: ...
    def __getitem__(self, place: int | slice) -> T | SampleBatch[T]:
        """One sample, or a batch of some of them."""
        if not isinstance(place, slice):
            return self.__rows()[place]
        part: SampleBatch[T] = SampleBatch.__new__(SampleBatch)
        count = len(range(self.__length)[place])
        columns = {name: values[place] for name, values in self.__columns.items()} if self.__whole else None
        samples = self.__samples[place] if self.__samples is not None else None
        part.__prepare(samples, columns, count, self.__type_of(), self.__pad)
        return part

    def to_dict(self) -> dict[str, Any]:
        """Every column by its field's name."""
        return {name: self.__column(name) for name in self.__names()}

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`: arrays as nested lists of their dtype, the rest by their Python type.

        Raises:
            ImportError: pyarrow is not installed.
        """
        arrow: Any = importlib.import_module("pyarrow")
        columns = SampleBatch.to_dict(self)
        return arrow.table({name: arrow_column(arrow, values) for name, values in columns.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SampleBatch) and list(SampleBatch.__rows(self)) == list(SampleBatch.__rows(other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        type_ = self.__type_of()
        return f"SampleBatch[{getattr(type_, '__name__', 'Any')}]({self.__length} samples: {', '.join(self.__names())})"


MEMBERS = frozenset({"to_dict", "to_arrow", "from_columns"})


def value_of(value: Any) -> Any:
    """A column's element as a sample holds it: Python's numbers, arrays as they are."""
    return value.item() if isinstance(value, np.generic) else value


def arrow_column(arrow: Any, values: Any) -> Any:
    if isinstance(values, np.ndarray):
        if values.ndim == 1:
            return arrow.array(values)
        made = arrow.array(np.ascontiguousarray(values).reshape(-1))
        for size in reversed(values.shape[1:]):
            made = arrow.FixedSizeListArray.from_arrays(made, size)
        return made
    return arrow.array([plain_of(value) for value in values])


def plain_of(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value
