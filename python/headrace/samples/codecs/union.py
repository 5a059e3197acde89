"""`T | None` and other unions, whose members msgpack's own types tell apart."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Any, Self, Union

from headrace.errors import SampleError, SchemaError
from headrace.samples.codecs.base import FieldCodec, FromJson, Resolve, mismatch

__all__ = ["UnionCodec"]

WIRE: dict[type, str] = {
    type(None): "nil",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    bytes: "bin",
    list: "array",
    dict: "map",
}


class UnionCodec(FieldCodec):
    """One of several types, or None where `optional`. No tag is written, so no two may look alike on the wire."""

    kind = "union"

    def __init__(self, members: tuple[FieldCodec, ...], optional: bool) -> None:
        # An int passes for a float, so it is asked first; its own type stays.
        self.members = tuple(sorted(members, key=lambda member: member.wire == frozenset({"float"})))
        self.optional = optional
        self.plain = all(member.plain for member in members)
        self.by_wire: dict[str, FieldCodec] = {}
        for member in members:
            for name in member.wire:
                other = self.by_wire.setdefault(name, member)
                if other is not member:
                    raise SchemaError(f"{other.text} and {member.text} cannot be told apart when they are read")
        self.wire = frozenset(self.by_wire) | (frozenset({"nil"}) if optional else frozenset())
        self.annotation = Union[tuple(m.annotation for m in members) + ((None,) if optional else ())]  # noqa: UP007

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> FieldCodec | None:
        if typing.get_origin(annotation) not in (Union, types.UnionType):
            return None
        args = typing.get_args(annotation)
        members = tuple(resolve(arg) for arg in args if arg is not type(None))
        return cls(members, type(None) in args)

    def encode(self, value: Any) -> Any:
        if value is None and self.optional:
            return None
        if len(self.members) == 1:
            return self.members[0].encode(value)
        for member in self.members:
            try:
                return member.encode(value)
            except SampleError:
                continue
        raise mismatch(self.text, value)

    def decode(self, plain: Any) -> Any:
        if plain is None and self.optional:
            return None
        if len(self.members) == 1:
            return self.members[0].decode(plain)
        member = self.by_wire.get(WIRE.get(type(plain), ""))
        if member is None:
            raise mismatch(self.text, plain)
        return member.decode(plain)

    def check(self, value: Any) -> None:
        if value is None and self.optional:
            return
        if len(self.members) == 1:
            self.members[0].check(value)
        else:
            self.encode(value)

    @property
    def text(self) -> str:
        return " or ".join([member.text for member in self.members] + (["None"] if self.optional else []))

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "members": [m.to_json() for m in self.members], "optional": self.optional}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], resolve: FromJson) -> Self:
        return cls(tuple(map(resolve, data["members"])), data["optional"])

    def local_type(self) -> dict[str, Any]:
        return self.members[0].local_type()
