"""`Schema` and `Field`: what the samples of a class are made of."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from headrace.errors import SampleError
from headrace.samples.codecs.base import FieldCodec

__all__ = ["MISSING", "Field", "Schema"]


class Missing(enum.Enum):
    """Says that a field has no default: None may be one. (The sentinel of dataclasses cannot be a field's default.)"""

    MISSING = 0


MISSING: Any = Missing.MISSING


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Field:
    """One field of a schema. Fields are equal where they store the same: name, type, optional and member.

    Attributes:
        name: the field's name, and its key in the stored map.
        codec: how its values are written and read.
        optional: whether it may be None.
        member: the extension of the tar member that holds it where others wrote the tar.
        default, default_factory: what stands in where nothing is stored; `MISSING` for none.
        required: False for a key that a TypedDict may leave out.
        description: a sentence, or None.
    """

    name: str
    codec: FieldCodec
    optional: bool = False
    member: str | None = None
    default: Any = MISSING
    default_factory: Any = MISSING
    required: bool = True
    description: str | None = None

    @property
    def type(self) -> Any:
        """The annotation, resolved."""
        return self.codec.annotation

    @property
    def inner(self) -> FieldCodec:
        """The codec without the `| None` around it."""
        members = getattr(self.codec, "members", None)
        if self.codec.kind == "union" and members is not None and len(members) == 1:
            inner: FieldCodec = members[0]
            return inner
        return self.codec

    @property
    def kind(self) -> str:
        """The codec's kind ("ndarray", "scalar", "record", ...), of `T` where the type is `T | None`."""
        return self.inner.kind

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """An array's dtype where the type names one."""
        found: np.dtype[Any] | None = getattr(self.inner, "dtype", None)
        return found

    @property
    def shape(self) -> tuple[int | str | None, ...] | None:
        """An array's dimensions where the type names them."""
        shape = getattr(self.inner, "shape", None)
        return None if shape is None else tuple(shape.dims)

    @property
    def has_default(self) -> bool:
        return self.default is not MISSING or self.default_factory is not MISSING

    def make_default(self) -> Any:
        return self.default if self.default is not MISSING else self.default_factory()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Field):
            return NotImplemented
        return (self.name, self.codec, self.optional, self.member, self.required) == (
            (other.name, other.codec, other.optional, other.member, other.required)
        )

    def __hash__(self) -> int:
        return hash((self.name, self.kind, self.optional, self.member))

    def __repr__(self) -> str:
        return f"Field({self.name}: {self.codec.text})"


class Schema:
    """Name and fields of a class of samples, in order. Schemas are equal where name and fields are.

    Example:
        >>> import headrace
        >>> @headrace.packable
        ... class Point:
        ...     x: float
        ...     label: str | None = None
        >>> headrace.schema(Point)
        Schema(Point: x: float, label: str or None)
    """

    def __init__(
        self, name: str, fields: Collection[Field], *, version: str = "1.0.0", description: str | None = None
    ) -> None:
        self.name = name
        self.fields: Mapping[str, Field] = MappingProxyType({field.name: field for field in fields})
        self.version = version
        self.description = description

    @functools.cached_property
    def encoders(self) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
        return tuple((name, field.codec.encode) for name, field in self.fields.items())

    @functools.cached_property
    def decoders(self) -> tuple[tuple[str, Callable[[Any], Any] | None, Field], ...]:
        return tuple((name, None if f.codec.plain else f.codec.decode, f) for name, f in self.fields.items())

    def encode(self, get: Callable[[str], Any], *, present: Collection[str] | None = None) -> dict[str, Any]:
        """The map to write, of the value that `get` gives for each field's name.

        Raises:
            SampleError: with the field, and what it should hold.
        """
        out = {}
        for name, encode in self.encoders:
            if present is not None and name not in present:
                if self.fields[name].required:
                    raise missing(self.fields[name])
                continue
            try:
                out[name] = encode(get(name))
            except SampleError as error:
                raise within(error, name) from None
        return out

    def decode(self, plain: Mapping[str, Any], *, validate: bool = False) -> dict[str, Any]:
        """The values of a map that was read; fields that it leaves out take their defaults.

        Args:
            plain: what was read.
            validate: also check every value, and refuse what is no field.
        """
        out = {}
        for name, decode, field in self.decoders:
            if name in plain:
                value = plain[name]
                try:
                    out[name] = value if decode is None else decode(value)
                    if validate:
                        field.codec.check(out[name])
                except SampleError as error:
                    raise within(error, name) from None
            elif field.has_default:
                out[name] = field.make_default()
            elif field.required:
                raise missing(field, plain)
        if validate and (extra := sorted(map(str, plain.keys() - self.fields.keys()))):
            raise SampleError(
                f"expected the fields {list(self.fields)}, found {extra} beside them",
                field=extra[0],
                expected="no such field",
                found="one",
            )
        return out

    def to_json(self, **options: Any) -> dict[str, Any]:
        """The schema as a JSON object, in the form that local indexes keep (`docs/formats.md`)."""
        from headrace.samples.schema_json import schema_to_json

        return schema_to_json(self, **options)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Schema:
        """The schema of what `to_json` gave, or another writer of the same form."""
        from headrace.samples.schema_json import schema_from_json

        return schema_from_json(data)

    def to_type(self) -> Any:
        """A packable class with this schema."""
        from headrace.samples.make import type_of

        return type_of(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return self.name == other.name and list(self.fields.values()) == list(other.fields.values())

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.fields)))

    def __repr__(self) -> str:
        return f"Schema({self.name}: {', '.join(f'{n}: {f.codec.text}' for n, f in self.fields.items())})"


def within(error: SampleError, name: str) -> SampleError:
    """The error with the field's name before the way inside it."""
    inner = error.field or ""
    error.field = name + (inner if inner.startswith("[") or not inner else f".{inner}")
    return error


def missing(field: Field, plain: Mapping[str, Any] | None = None) -> SampleError:
    found = "nothing" if plain is None else f"only the fields {sorted(map(str, plain))}"
    return SampleError(
        f"expected {field.codec.text}, found {found}", field=field.name, expected=field.codec.text, found=found
    )
