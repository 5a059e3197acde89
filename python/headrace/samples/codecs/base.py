"""`FieldCodec`: how values of one type become plain msgpack values and come back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from headrace.errors import SampleError

__all__ = ["FieldCodec", "FromJson", "Resolve", "brief", "inside", "mismatch"]

Resolve = Callable[[Any], "FieldCodec"]
"""Finds the codec of an annotation inside another; raises SchemaError where there is none."""
FromJson = Callable[[Mapping[str, Any]], "FieldCodec"]


class FieldCodec(ABC):
    """The codec of one field's type. Frozen: threads share it.

    A codec is one small file. Another package offers its own in the entry point group `headrace.field_codecs`, as a
    subclass of this.
    """

    kind: ClassVar[str]
    """Its stable name in a schema's JSON."""
    wire: frozenset[str]
    """Which msgpack types it writes: of nil, bool, int, float, str, bin, array, map."""
    annotation: Any
    """A type that has this codec."""
    plain: bool = False
    """Whether what is read is the value, so that `decode` has nothing to do."""

    @classmethod
    @abstractmethod
    def match(cls, annotation: Any, resolve: Resolve) -> FieldCodec | None:
        """The codec for an annotation, None where it is not of this kind."""

    @abstractmethod
    def encode(self, value: Any) -> Any:
        """The plain value to write: None, bool, int, float, str, bytes, or lists and dicts of these.

        Raises:
            SampleError: the value is not one of the type (see `mismatch`).
        """

    @abstractmethod
    def decode(self, plain: Any) -> Any:
        """The value of what was read. Raises SampleError where none can be made."""

    def check(self, value: Any) -> None:
        """Raises SampleError where a value that was read is not one of the type."""
        self.encode(value)

    @property
    @abstractmethod
    def text(self) -> str:
        """The type, as messages name it."""

    def to_json(self) -> dict[str, Any]:
        """All of the codec in JSON, `kind` included."""
        return {"kind": self.kind}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], resolve: FromJson) -> Self:
        """The codec of what `to_json` gave; `resolve` does so for those inside."""
        return cls()

    def local_type(self) -> dict[str, Any]:
        """The nearest type that a reader of the local schema JSON knows, for what is on the wire."""
        return {"$type": "local#primitive", "primitive": "str"}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldCodec) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.kind, self.text))


def mismatch(expected: str, value: Any, *, note: str = "") -> SampleError:
    """The error of a value that is not what its field holds."""
    found = brief(value)
    return SampleError(f"expected {expected}, found {found}{note}", expected=expected, found=found)


def inside(error: SampleError, place: str) -> SampleError:
    """The error with one more step of the way to it: `[3]`, `.label`, `["key"]`."""
    error.field = place + (error.field or "")
    return error


def brief(value: Any) -> str:
    """A value in a few words."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {value.shape}"
    if value is None:
        return "None"
    name = type(value).__name__
    if isinstance(value, bytes | bytearray | memoryview):
        return f"{name} of {len(value)} bytes"
    text = repr(value)
    return f"{name} {text}" if len(text) <= 60 else f"{name} {text[:57]}..."
