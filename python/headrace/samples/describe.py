"""The schema of a class: its annotations resolved, a codec found for each."""

from __future__ import annotations

import dataclasses
import sys
import typing
from collections.abc import Mapping
from typing import Any

from headrace.errors import SchemaError
from headrace.samples.codecs.registry import codec_of, expanded
from headrace.samples.codecs.union import UnionCodec
from headrace.samples.declare import DESCRIPTION, MEMBER
from headrace.samples.schema import MISSING, Field, Schema

__all__ = ["SCHEMA", "hints_of", "schema_of"]

SCHEMA = "__headrace_schema__"


def schema_of(type_: Any, names: Mapping[str, Any] | None = None) -> Schema:
    """The schema of a packable, a dataclass or a TypedDict.

    Args:
        type_: the class.
        names: what else its annotations may name: the locals of the function that it stands in.

    Raises:
        SchemaError: a field's type cannot be stored; the message names the field.
    """
    made = vars(type_).get(SCHEMA)
    if isinstance(made, Schema):
        return made
    hints = hints_of(type_, names)
    if typing.is_typeddict(type_):
        fields = [field_of(type_, name, hint, is_required(type_, name, hint)) for name, hint in hints.items()]
        return Schema(type_.__name__, fields)
    if not isinstance(type_, type) or not dataclasses.is_dataclass(type_):
        raise SchemaError(f"{type_.__name__} is no class of samples: make it one with @packable")
    fields = []
    for told in dataclasses.fields(type_):
        if told.init:
            fields.append(field_of(type_, told.name, hints[told.name], True, told))
    return Schema(type_.__name__, fields, description=documentation(type_))


def hints_of(type_: Any, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The annotations of a class and of those it inherits from, resolved each in its own module."""
    hints: dict[str, Any] = {}
    for base in (type_,) if typing.is_typeddict(type_) else reversed(type_.__mro__):
        if base is object or ("__annotations__" not in vars(base) and sys.version_info < (3, 14)):
            continue
        local = {**vars(base), base.__name__: base} if names is None else {**names, base.__name__: base}
        try:
            found = typing.get_type_hints(base, localns=local, include_extras=True)
        except (NameError, AttributeError, SyntaxError, TypeError) as error:
            raise SchemaError(
                f"{type_.__name__}: the annotations of {base.__name__} cannot be resolved: {error}. Import what they "
                f"name where the program runs, not under TYPE_CHECKING alone"
            ) from error
        hints.update(found)
    return hints


def field_of(type_: Any, name: str, hint: Any, required: bool, told: dataclasses.Field[Any] | None = None) -> Field:
    try:
        codec = codec_of(expanded(hint))
    except SchemaError as error:
        raise SchemaError(f"{type_.__name__}.{name}: {error}") from None
    metadata = told.metadata if told is not None else {}
    return Field(
        name=name,
        codec=codec,
        optional=isinstance(codec, UnionCodec) and codec.optional,
        member=metadata.get(MEMBER),
        default=given(told, "default"),
        default_factory=given(told, "default_factory"),
        required=required,
        description=metadata.get(DESCRIPTION),
    )


def is_required(type_: Any, name: str, hint: Any) -> bool:
    """Whether a TypedDict's key must be there; annotations that are strings tell it only when they are resolved."""
    origin = typing.get_origin(hint)
    if origin in (typing.Required, typing.NotRequired):
        return origin is typing.Required
    return name in type_.__required_keys__


def given(told: dataclasses.Field[Any] | None, name: str) -> Any:
    value = getattr(told, name, dataclasses.MISSING)
    return MISSING if value is dataclasses.MISSING else value


def documentation(type_: Any) -> str | None:
    """The class's docstring, without the signature that dataclasses put there when there is none."""
    text = vars(type_).get("__doc__")
    return None if not text or text.startswith(f"{type_.__name__}(") else str(text).strip()
