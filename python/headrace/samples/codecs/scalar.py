"""str, int, float, bool, bytes, and `Any`: what msgpack has itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from headrace.errors import SampleError
from headrace.samples.codecs.base import FieldCodec, FromJson, Resolve, inside, mismatch

__all__ = ["AnyCodec", "ScalarCodec"]

ACCEPTED: dict[type, tuple[type, ...]] = {
    str: (str,),
    int: (int, np.integer),
    float: (float, int, np.floating, np.integer),
    bool: (bool, np.bool_),
    bytes: (bytes, bytearray, memoryview),
}
WIRE = {str: "str", int: "int", float: "float", bool: "bool", bytes: "bin"}


class ScalarCodec(FieldCodec):
    """One of Python's plain types. NumPy's scalars are taken for the types that they are; a bool is no number."""

    kind = "scalar"
    plain = True

    def __init__(self, type_: type) -> None:
        self.annotation = self.type = type_
        self.wire = frozenset({WIRE[type_]})
        self.plain = type_ is not float

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> ScalarCodec | None:
        return cls(annotation) if isinstance(annotation, type) and annotation in WIRE else None

    def encode(self, value: Any) -> Any:
        if type(value) is self.type:
            return value
        if not isinstance(value, ACCEPTED[self.type]) or (isinstance(value, bool) and self.type is not bool):
            raise mismatch(self.text, value)
        return self.type(value)

    def decode(self, plain: Any) -> Any:
        return float(plain) if type(plain) is int and self.type is float else plain

    @property
    def text(self) -> str:
        return self.type.__name__

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "type": self.text}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], resolve: FromJson) -> Self:
        return cls({type_.__name__: type_ for type_ in WIRE}[data["type"]])

    def local_type(self) -> dict[str, Any]:
        return {"$type": "local#primitive", "primitive": self.text}


class AnyCodec(FieldCodec):
    """Whatever msgpack has: None, bool, int, float, str, bytes, lists, and dicts whose keys are strings."""

    kind = "any"
    wire = frozenset({"nil", "bool", "int", "float", "str", "bin", "array", "map"})
    annotation = Any
    plain = True

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> AnyCodec | None:
        return cls() if annotation is Any or annotation is object else None

    def encode(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return value
        if isinstance(value, np.generic):
            return self.encode(value.item())
        if isinstance(value, list | tuple):
            return [self.inner(item, f"[{place}]") for place, item in enumerate(value)]
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise mismatch("a dict with strings for keys", key, note=" as a key")
            return {key: self.inner(item, f"[{key!r}]") for key, item in value.items()}
        raise mismatch(self.text, value, note=": give it a field with a type of its own")

    def inner(self, value: Any, place: str) -> Any:
        try:
            return self.encode(value)
        except SampleError as error:
            raise inside(error, place) from None

    def decode(self, plain: Any) -> Any:
        return plain

    @property
    def text(self) -> str:
        return "a plain value (None, bool, int, float, str, bytes, list or dict)"
