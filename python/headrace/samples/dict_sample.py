"""`DictSample`: a sample without a class, its fields as they were stored."""

from __future__ import annotations

import uuid
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _native
from headrace.errors import SampleError
from headrace.samples.array_bytes import array_from_bytes, array_or_bytes, array_to_bytes
from headrace.samples.codecs.base import brief
from headrace.samples.codecs.scalar import AnyCodec
from headrace.samples.equality import same
from headrace.samples.schema import Schema, within

__all__ = ["DictSample"]

PLAIN = AnyCodec()


class DictSample:
    """Fields by attribute and by item. Every name may be a field's; one that is also a member's hides the member.

    Args:
        fields: the fields; a mapping, and keywords beside it.

    Example:
        >>> from headrace import DictSample
        >>> sample = DictSample(text="a tower", label=3)
        >>> sample.text, sample["label"], list(sample.keys())
        ('a tower', 3, ['text', 'label'])
    """

    # Fields live in the instance's dict, which is looked into before the methods of the class.
    __slots__ = ("__dict__", "__raw")

    __raw: dict[str, bytes]

    def __init__(self, fields: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self.__raw = {}
        here = vars(self)
        here.update(fields or {}, **more)
        if not all(isinstance(name, str) for name in here):
            raise SampleError(f"expected strings for the names of fields, found {list(here)}")

    @classmethod
    def from_data(cls, data: Mapping[str, Any], *, schema: Schema | None = None) -> DictSample:
        """The sample of a map that was read.

        Args:
            data: field name to value, as stored.
            schema: says what the fields are. Without one, bytes that are exactly an array come as an array.
        """
        sample = cls(data)
        here = vars(sample)
        if schema is not None:
            for name, decode, _ in schema.decoders:
                if decode is not None and name in here:
                    try:
                        here[name] = decode(here[name])
                    except SampleError as error:
                        raise within(error, name) from None
            return sample
        for name, value in data.items():
            if type(value) is bytes:
                array = array_or_bytes(value)
                if array is not value:
                    here[name] = array
                    sample.__raw[name] = value
        return sample

    @classmethod
    def from_bytes(cls, data: bytes, *, schema: Schema | None = None) -> DictSample:
        """The sample in msgpack bytes; see `from_data`."""
        plain = _native.unpack(data)
        if not isinstance(plain, dict):
            raise SampleError(f"DictSample: expected a map of fields, found {brief(plain)}")
        return cls.from_data(plain, schema=schema)

    @staticmethod
    def stored(sample: DictSample, schema: Schema | None = None) -> dict[str, Any]:
        """The fields with the bytes in place of arrays that only looked like ones, by what `schema` says."""
        out = dict(vars(sample))
        for name, raw in sample.__raw.items():
            field = schema.fields.get(name) if schema is not None else None
            if field is not None and field.kind != "ndarray" and same(out.get(name), array_from_bytes(raw)):
                out[name] = raw
        return out

    @staticmethod
    def pack(sample: DictSample) -> bytes:
        """The sample's bytes. `sample.packed` is the same, where no field is called so."""
        out = {}
        for name, value in vars(sample).items():
            try:
                if isinstance(value, np.ndarray):
                    raw = sample.__raw.get(name)
                    kept = raw is not None and same(value, array_from_bytes(raw))
                    out[name] = raw if kept else array_to_bytes(value)
                else:
                    out[name] = PLAIN.encode(value)
            except SampleError as error:
                error = within(error, name)
                raise SampleError(
                    f"DictSample.{error.field}: {error}",
                    sample_type="DictSample",
                    field=error.field,
                    expected=error.expected,
                    found=error.found,
                ) from None
        return _native.pack(out)

    def keys(self) -> KeysView[str]:
        """The fields' names, in the order they were stored."""
        return vars(self).keys()

    def values(self) -> ValuesView[Any]:
        return vars(self).values()

    def items(self) -> ItemsView[str, Any]:
        return vars(self).items()

    def get(self, name: str, default: Any = None) -> Any:
        """The field's value, `default` where there is none."""
        return vars(self).get(name, default)

    def to_dict(self) -> dict[str, Any]:
        """A new dict of the fields; the values are the sample's own."""
        return dict(vars(self))

    def __getitem__(self, name: str) -> Any:
        try:
            return vars(self)[name]
        except KeyError:
            raise KeyError(f"no field {name!r}; the sample has {list(vars(self))}") from None

    def __setitem__(self, name: str, value: Any) -> None:
        vars(self)[name] = value

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"DictSample has no field {name!r}; it has {list(vars(self))}")

    else:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

        packed: bytes
        as_wds: dict[str, Any]

    def __contains__(self, name: object) -> bool:
        return name in vars(self)

    def __iter__(self) -> Iterator[str]:
        return iter(vars(self))

    def __len__(self) -> int:
        return len(vars(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DictSample) and same(vars(self), vars(other))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (dict(vars(self)), self.__raw)

    def __repr__(self) -> str:
        return f"DictSample({', '.join(f'{name}={shown(value)}' for name, value in vars(self).items())})"


class Packed:
    """`sample.packed`; a field of that name stands in the instance's dict and is found first."""

    def __get__(self, sample: DictSample | None, owner: Any = None) -> Any:
        return self if sample is None else DictSample.pack(sample)


class AsWds:
    def __get__(self, sample: DictSample | None, owner: Any = None) -> Any:
        return self if sample is None else {"__key__": uuid.uuid4().hex, "msgpack": DictSample.pack(sample)}


setattr(DictSample, "packed", Packed())  # noqa: B010
setattr(DictSample, "as_wds", AsWds())  # noqa: B010


def restored(fields: dict[str, Any], raw: dict[str, bytes]) -> DictSample:
    sample = DictSample(fields)
    setattr(sample, "_DictSample__raw", raw)  # noqa: B010
    return sample


def shown(value: Any) -> str:
    return f"<{value.dtype} {value.shape}>" if isinstance(value, np.ndarray) else repr(value)
