"""Nested packables, dataclasses and TypedDicts: a map of their fields."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from headrace.samples.codecs.base import FieldCodec, FromJson, Resolve, mismatch

if TYPE_CHECKING:
    from headrace.samples.schema import Schema

__all__ = ["RecordCodec"]


class RecordCodec(FieldCodec):
    """Another class with fields of its own. The schema is made at its first use, so that a class may hold itself."""

    kind = "record"
    wire = frozenset({"map"})

    def __init__(self, type_: Any = None, schema: Schema | None = None) -> None:
        self.made = schema
        self.made_type = type_

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> RecordCodec | None:
        if typing.is_typeddict(annotation) or (isinstance(annotation, type) and dataclasses.is_dataclass(annotation)):
            codec = cls(annotation)
            # What cannot be stored inside is said now; a class still in the making has no schema yet and comes later.
            if "__headrace_making__" not in vars(annotation):
                _ = codec.schema
            return codec
        return cls(annotation) if "__headrace_making__" in getattr(annotation, "__dict__", {}) else None

    @property
    def schema(self) -> Schema:
        if self.made is None:
            from headrace.samples.describe import schema_of

            self.made = schema_of(self.made_type)
        return self.made

    @property
    def annotation(self) -> Any:
        if self.made_type is None:
            self.made_type = self.schema.to_type()
        return self.made_type

    def encode(self, value: Any) -> dict[str, Any]:
        if typing.is_typeddict(self.annotation):
            if not isinstance(value, dict):
                raise mismatch(self.text, value)
            extra = value.keys() - self.schema.fields.keys()
            if extra:
                raise mismatch(self.text, value, note=f": {sorted(map(str, extra))} are none of its keys")
            return self.schema.encode(value.get, present=value.keys())
        if not isinstance(value, self.annotation):
            raise mismatch(self.text, value)
        return self.schema.encode(lambda name: getattr(value, name))

    def decode(self, plain: Any) -> Any:
        if not isinstance(plain, dict):
            if not typing.is_typeddict(self.annotation) and isinstance(plain, self.annotation):
                return plain
            raise mismatch(self.text, plain)
        values = self.schema.decode(plain)
        return values if typing.is_typeddict(self.annotation) else self.annotation(**values)

    @property
    def text(self) -> str:
        return f"a {self.made_type.__name__ if self.made_type is not None else self.schema.name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordCodec) and (
            (self.made_type is not None and self.made_type is other.made_type) or self.schema == other.schema
        )

    __hash__ = FieldCodec.__hash__

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "schema": self.schema.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], resolve: FromJson) -> Self:
        from headrace.samples.schema_json import schema_from_json

        return cls(None, schema_from_json(data["schema"]))
