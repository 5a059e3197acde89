"""A schema in JSON, in the form that local indexes keep.

Each field has a `fieldType` that names what is on the wire in the words of that form (`local#primitive`,
`local#ndarray`, `local#array`), and beside it, under `headrace`, all that headrace knows of the type. Readers of the
form pass over the second. headrace reads the first where the second is not there, and does not trust its dtype, which
other writers fill with float32 whatever the arrays are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headrace.errors import SchemaError
from headrace.samples.codecs.array import ArrayCodec
from headrace.samples.codecs.base import FieldCodec
from headrace.samples.codecs.collection import SequenceCodec
from headrace.samples.codecs.registry import codec_from_json
from headrace.samples.codecs.scalar import AnyCodec, ScalarCodec
from headrace.samples.codecs.union import UnionCodec
from headrace.samples.schema import MISSING, Field, Schema
from headrace.samples.shape import Shape

__all__ = ["schema_from_json", "schema_to_json"]

PRIMITIVES: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool, "bytes": bytes}
# Formats that are bytes to headrace: whoever reads the field knows what to do with them.
OPAQUE = {"sparse", "arrow_tensor", "safetensors", "dataframe"}


def schema_to_json(schema: Schema, *, created_at: str | None = None) -> dict[str, Any]:
    """The schema as a JSON object.

    Args:
        schema: the schema.
        created_at: when it was published, in ISO 8601; left out otherwise.
    """
    out: dict[str, Any] = {
        "name": schema.name,
        "version": schema.version,
        "fields": [field_to_json(field) for field in schema.fields.values()],
    }
    if schema.description:
        out["description"] = schema.description
    if created_at is not None:
        out["createdAt"] = created_at
    return out


def field_to_json(field: Field) -> dict[str, Any]:
    told: dict[str, Any] = {"type": field.codec.to_json()}
    if field.member is not None:
        told["member"] = field.member
    if not field.required:
        told["required"] = False
    if field.description is not None:
        told["description"] = field.description
    default = field.default
    if default is MISSING and field.default_factory is not MISSING:
        default = field.default_factory()
    if is_json(default):
        told["default"] = default
    local = {**field.inner.local_type(), "headrace": told}
    # To readers of the form an optional field has a default, and none without one may follow it.
    return {"name": field.name, "fieldType": local, "optional": field.optional or field.has_default}


def schema_from_json(data: Mapping[str, Any]) -> Schema:
    """The schema of a JSON object that headrace or another writer of the form made.

    Raises:
        SchemaError: it is none; the message names the field.
    """
    try:
        name, version = data["name"], data.get("version", "1.0.0")
        fields = [field_from_json(field) for field in data["fields"]]
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise SchemaError(f"expected a schema with name and fields, this one has no {error}") from None
    return Schema(name, fields, version=version, description=data.get("description"))


def field_from_json(data: Mapping[str, Any]) -> Field:
    name, optional, told = data["name"], bool(data.get("optional", False)), data["fieldType"]
    if not isinstance(name, str) or not name:
        raise SchemaError(f"expected a field's name, found {name!r}")
    own = told.get("headrace")
    if own is None:
        codec = codec_of_local(name, told)
        return Field(name, UnionCodec((codec,), True) if optional else codec, optional)
    default, factory = own.get("default", MISSING), MISSING
    if isinstance(default, list | dict):
        default, factory = MISSING, Copied(default)
    codec = codec_from_json(own["type"])
    return Field(
        name,
        codec,
        isinstance(codec, UnionCodec) and codec.optional,
        member=own.get("member"),
        default=default,
        default_factory=factory,
        required=own.get("required", True),
        description=own.get("description"),
    )


def codec_of_local(name: str, told: Mapping[str, Any]) -> FieldCodec:
    kind = str(told.get("$type", "")).rpartition("#")[2] or told.get("kind", "")
    if kind == "primitive" and told.get("primitive") in PRIMITIVES:
        return ScalarCodec(PRIMITIVES[told["primitive"]])
    if kind in ("ndarray", "structured"):
        shape = told.get("shape")
        names = told.get("dimensionNames") or [None] * len(shape or ())
        dims = [size if size is not None else name for size, name in zip(shape or (), names, strict=True)]
        return ArrayCodec(shape=None if shape is None else Shape(*dims))
    if kind in OPAQUE:
        return ScalarCodec(bytes)
    if kind == "array":
        items = told.get("items")
        return SequenceCodec(list, codec_of_local(name, items) if items else AnyCodec())
    raise SchemaError(f"field {name!r}: no type {told.get('$type', told)!r} is known")


def is_json(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(is_json, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_json(item) for key, item in value.items())
    return value is None or type(value) in (bool, int, float, str)


class Copied:
    """A default factory that gives a copy of a list or a dict each time."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self) -> Any:
        import copy

        return copy.deepcopy(self.value)
