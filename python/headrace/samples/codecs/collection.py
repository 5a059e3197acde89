"""Lists, tuples, sets and dicts of other types."""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Mapping
from typing import Any, Self

from headrace import _native
from headrace.errors import SampleError, SchemaError
from headrace.samples.codecs.base import FieldCodec, FromJson, Resolve, inside, mismatch

__all__ = ["DictCodec", "SequenceCodec", "TupleCodec"]

SEQUENCES: dict[Any, type] = {
    list: list,
    set: set,
    frozenset: frozenset,
    collections.abc.Sequence: list,
    collections.abc.Set: frozenset,
}


class SequenceCodec(FieldCodec):
    """Any number of one type: a list, a set, or `tuple[T, ...]`. Sets are written in the order of their bytes."""

    kind = "sequence"
    wire = frozenset({"array"})

    def __init__(self, type_: Any, item: FieldCodec) -> None:
        self.type = type_
        self.item = item
        self.plain = type_ is list and item.plain
        self.annotation = types.GenericAlias(type_, (item.annotation, ...) if type_ is tuple else item.annotation)

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> SequenceCodec | None:
        origin = typing.get_origin(annotation) or annotation
        args = typing.get_args(annotation)
        if origin is tuple and (not args or (len(args) == 2 and args[1] is Ellipsis)):
            return cls(tuple, resolve(args[0] if args else Any))
        if isinstance(origin, type) and origin in SEQUENCES:
            return cls(SEQUENCES[origin], resolve(args[0] if args else Any))
        return None

    def encode(self, value: Any) -> list[Any]:
        if not isinstance(value, self.type):
            raise mismatch(self.text, value)
        out = []
        for place, item in enumerate(value):
            try:
                out.append(self.item.encode(item))
            except SampleError as error:
                raise inside(error, f"[{place}]") from None
        return sorted(out, key=_native.pack) if self.type in (set, frozenset) else out

    def decode(self, plain: Any) -> Any:
        if not isinstance(plain, list):
            if self.plain or isinstance(plain, self.type):
                return plain
            raise mismatch(self.text, plain)
        if self.plain:
            return plain
        out = []
        for place, item in enumerate(plain):
            try:
                out.append(self.item.decode(item))
            except SampleError as error:
                raise inside(error, f"[{place}]") from None
        return out if self.type is list else self.type(out)

    @property
    def text(self) -> str:
        return f"a {self.type.__name__} of {self.item.text}"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "type": self.type.__name__, "items": self.item.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], resolve: FromJson) -> Self:
        named = {type_.__name__: type_ for type_ in (list, tuple, set, frozenset)}
        return cls(named[data["type"]], resolve(data["items"]))

    def local_type(self) -> dict[str, Any]:
        return {"$type": "local#array", "items": self.item.local_type()}


class TupleCodec(FieldCodec):
    """A tuple with a type for each place, `tuple[int, str]`."""

    kind = "tuple"
    wire = frozenset({"array"})

    def __init__(self, items: tuple[FieldCodec, ...]) -> None:
        self.items = items
        self.annotation = tuple[tuple(item.annotation for item in items)]  # type: ignore[misc]

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> TupleCodec | None:
        args = typing.get_args(annotation)
        if typing.get_origin(annotation) is not tuple or Ellipsis in args:
            return None
        return cls(tuple(map(resolve, args)))

    def encode(self, value: Any) -> list[Any]:
        return self.each(value, tuple, "encode")

    def decode(self, plain: Any) -> tuple[Any, ...]:
        return tuple(self.each(plain, list | tuple, "decode"))

    def each(self, value: Any, types: Any, step: str) -> list[Any]:
        if not isinstance(value, types) or len(value) != len(self.items):
            raise mismatch(self.text, value)
        out = []
        for place, (codec, item) in enumerate(zip(self.items, value, strict=True)):
            try:
                out.append(getattr(codec, step)(item))
            except SampleError as error:
                raise inside(error, f"[{place}]") from None
        return out

    @property
    def text(self) -> str:
        return f"a tuple of ({', '.join(item.text for item in self.items)})"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "items": [item.to_json() for item in self.items]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], resolve: FromJson) -> Self:
        return cls(tuple(map(resolve, data["items"])))

    def local_type(self) -> dict[str, Any]:
        types = [item.local_type() for item in self.items]
        return {
            "$type": "local#array",
            "items": types[0] if types else {"$type": "local#primitive", "primitive": "str"},
        }


class DictCodec(FieldCodec):
    """A dict. Its keys are strings on the wire: an int or another plain type is written as text, as JSON has it."""

    kind = "dict"
    wire = frozenset({"map"})

    def __init__(self, key: FieldCodec, value: FieldCodec) -> None:
        self.key = key
        self.value = value
        self.integers = key.wire == frozenset({"int"})
        if key.wire not in (frozenset({"str"}), frozenset({"int"})):
            raise SchemaError(f"the keys of a dict are strings or integers, found {key.text}")
        self.plain = key.plain and value.plain and not self.integers
        self.annotation = dict[key.annotation, value.annotation]  # type: ignore[name-defined]

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> DictCodec | None:
        origin = typing.get_origin(annotation) or annotation
        if origin is not dict and origin is not collections.abc.Mapping:
            return None
        key, value = typing.get_args(annotation) or (str, Any)
        return cls(resolve(key), resolve(value))

    def encode(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise mismatch(self.text, value)
        out = {}
        for key, item in value.items():
            try:
                out[str(self.key.encode(key))] = self.value.encode(item)
            except SampleError as error:
                raise inside(error, f"[{key!r}]") from None
        return out

    def decode(self, plain: Any) -> Any:
        if self.plain:
            return plain
        if not isinstance(plain, dict):
            raise mismatch(self.text, plain)
        out = {}
        for key, item in plain.items():
            try:
                out[self.key.decode(self.integer(key) if self.integers else key)] = self.value.decode(item)
            except SampleError as error:
                raise inside(error, f"[{key!r}]") from None
        return out

    def integer(self, key: Any) -> int:
        try:
            return int(key)
        except (TypeError, ValueError):
            raise mismatch("an integer as text", key, note=" as a key") from None

    @property
    def text(self) -> str:
        return f"a dict of {self.key.text} to {self.value.text}"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "keys": self.key.to_json(), "values": self.value.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], resolve: FromJson) -> Self:
        return cls(resolve(data["keys"]), resolve(data["values"]))
