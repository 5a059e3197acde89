"""A packable class out of a schema that was read."""

from __future__ import annotations

import keyword
from typing import Any

from headrace.errors import SchemaError
from headrace.samples.declare import field
from headrace.samples.describe import SCHEMA
from headrace.samples.packable import make
from headrace.samples.schema import MISSING, Schema

__all__ = ["type_of"]


def type_of(schema: Schema) -> Any:
    """A packable class whose schema is equal to the one given.

    Nothing is imported or evaluated: names are used as attributes alone, types come from the codecs.

    Raises:
        SchemaError: a name is no identifier of Python.
    """
    name = schema.name.rpartition(".")[2]
    for word in (name, *schema.fields):
        if not word.isidentifier() or keyword.iskeyword(word):
            raise SchemaError(f"{schema.name}: {word!r} cannot name a class or a field in Python")
    members: dict[str, Any] = {"__annotations__": {}, "__module__": __name__, "__doc__": schema.description}
    for told in schema.fields.values():
        members["__annotations__"][told.name] = told.codec.annotation
        options = {"default": told.default, "default_factory": told.default_factory}
        members[told.name] = field(
            member=told.member,
            description=told.description,
            # One with a default may stand before one without.
            kw_only=told.has_default,
            **{name: value for name, value in options.items() if value is not MISSING},
        )
    made = make(type(name, (), members), {})
    setattr(made, SCHEMA, schema)
    return made
