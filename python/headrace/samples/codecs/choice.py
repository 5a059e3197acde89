"""`Literal` and `Enum`: one of a few values, written as the value itself."""

from __future__ import annotations

import enum
import typing
from collections.abc import Mapping
from typing import Any, Literal, Self

from headrace.errors import SchemaError
from headrace.samples.codecs.base import FieldCodec, FromJson, Resolve, mismatch

__all__ = ["ChoiceCodec"]

WIRE: dict[type, str] = {str: "str", int: "int", bool: "bool", float: "float", type(None): "nil", bytes: "bin"}


class ChoiceCodec(FieldCodec):
    """One of `choices`; `members` maps what is written to what is read where the two differ (an Enum)."""

    kind = "choice"

    def __init__(self, choices: tuple[Any, ...], enumeration: type[enum.Enum] | None = None) -> None:
        self.choices = choices
        self.enumeration = enumeration
        self.plain = enumeration is None
        self.annotation = enumeration or Literal[choices]
        self.wire = frozenset(WIRE[type(choice)] for choice in choices)
        # Keyed with the type: 1, 1.0 and True are one key of a dict.
        self.members = {(type(choice), choice): choice for choice in choices}
        if enumeration is not None:
            self.members = {(type(plain_of(member)), plain_of(member)): member for member in enumeration}

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> ChoiceCodec | None:
        if typing.get_origin(annotation) is Literal:
            choices = typing.get_args(annotation)
            if any(type(choice) not in WIRE for choice in choices):
                raise SchemaError("a Literal of an Enum's members: name the Enum itself")
            return cls(choices)
        if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
            return cls(tuple(plain_of(member) for member in annotation), annotation)
        return None

    def encode(self, value: Any) -> Any:
        if self.enumeration is not None:
            if isinstance(value, self.enumeration) and value in self.members.values():
                return plain_of(value)
        elif isinstance(value, tuple(WIRE)) and (type(value), value) in self.members:
            return value
        raise mismatch(self.text, value)

    def decode(self, plain: Any) -> Any:
        if self.enumeration is None or isinstance(plain, self.enumeration):
            return plain
        if not isinstance(plain, tuple(WIRE)) or (type(plain), plain) not in self.members:
            raise mismatch(self.text, plain)
        return self.members[type(plain), plain]

    @property
    def text(self) -> str:
        inner = ", ".join(map(repr, self.choices[:8])) + (", ..." if len(self.choices) > 8 else "")
        return f"one of {inner}" if self.enumeration is None else f"a member of {self.enumeration.__name__}"

    def to_json(self) -> dict[str, Any]:
        if any(isinstance(choice, bytes) for choice in self.choices):
            return {"kind": self.kind, "hex": [choice.hex() for choice in self.choices]}
        return {"kind": self.kind, "choices": list(self.choices)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], resolve: FromJson) -> Self:
        return cls(tuple(bytes.fromhex(c) for c in data["hex"]) if "hex" in data else tuple(data["choices"]))

    def local_type(self) -> dict[str, Any]:
        (name,) = {type(choice).__name__ for choice in self.choices} if len(self.wire) == 1 else {"str"}
        return {"$type": "local#primitive", "primitive": name if name != "NoneType" else "str"}


def plain_of(member: enum.Enum) -> Any:
    """What is written for a member: its value where msgpack has it, else its name."""
    value = member.value
    for type_ in (bool, str, int, float):
        if isinstance(value, type_):
            return type_(value)
    return member.name
