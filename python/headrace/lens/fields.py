"""Lenses that are data: fields renamed, selected and cast; and the structural ones made of them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from headrace.errors import LensError, SampleError
from headrace.lens.lens import Lens, name_of
from headrace.samples import DictSample, Field, Schema
from headrace.samples.codecs.array import ArrayCodec
from headrace.samples.packable import is_packable, located, schema

__all__ = ["FieldsLens", "dict_lens", "structural"]

S = TypeVar("S")
V = TypeVar("V")


class FieldsLens(Lens[S, V]):
    """`Lens.fields`: no Python of the user's runs, so that it can be stored, merged, and decode what it takes alone.

    Attributes:
        mapping: view field -> source field.
        cast: view field -> dtype.
    """

    def __init__(
        self, fields: Mapping[str, str], *, source: type[S], view: type[V], cast: Mapping[str, Any] | None = None
    ) -> None:
        self.mapping = dict(fields)
        self.cast = {name: np.dtype(dtype) for name, dtype in (cast or {}).items()}
        self.validate(source, view)
        # Two views of one field could be put back in two ways.
        once = len(set(self.mapping.values())) == len(self.mapping)
        super().__init__(self.make, self.write if once else None, source_type=source, view_type=view)
        self.__name__ = f"{name_of(source)}_to_{name_of(view)}"

    def validate(self, source: Any, view: Any) -> None:
        place = f"Lens.fields({name_of(source)} -> {name_of(view)})"
        into = fields_of(view)
        for name in [*self.mapping, *self.cast]:
            if name not in into:
                raise LensError(f"{place}: {name_of(view)} has no field {name!r}; it has {list(into)}")
        for name in self.cast:
            if name not in self.mapping or into[name].kind != "ndarray":
                raise LensError(f"{place}: a cast is for an array field that the lens gives, {name!r} is none")
        for name, field in into.items():
            if name not in self.mapping and not field.has_default:
                raise LensError(f"{place}: nothing gives the field {name!r}, and it has no default")
        if source is DictSample:
            return
        out = fields_of(source)
        for name, taken in self.mapping.items():
            if taken not in out:
                raise LensError(f"{place}: {name_of(source)} has no field {taken!r}; it has {list(out)}")
            if why := unfit(out[taken], into[name], self.cast.get(name)):
                raise LensError(f"{place}: {name!r} from {taken!r}: {why}")

    @property
    def source_fields(self) -> frozenset[str]:
        """The fields of the source that the view needs; the others need not be decoded."""
        return frozenset(self.mapping.values())

    def make(self, source: S) -> V:
        values = {}
        for name, taken in self.mapping.items():
            value = source[taken] if isinstance(source, DictSample) else getattr(source, taken)
            dtype = self.cast.get(name)
            values[name] = value.astype(dtype) if dtype is not None and isinstance(value, np.ndarray) else value
        return self.view_type(**values)

    def write(self, view: V, source: S) -> S:
        changed = {}
        for name, taken in self.mapping.items():
            value = getattr(view, name)
            before = source[taken] if isinstance(source, DictSample) else getattr(source, taken)
            if name in self.cast and isinstance(value, np.ndarray) and isinstance(before, np.ndarray):
                value = value.astype(before.dtype)
            changed[taken] = value
        if isinstance(source, DictSample):
            made = copy.copy(source)
            vars(made).update(changed)
            return made
        return dataclasses.replace(source, **changed)  # type: ignore[type-var]

    def merge(self, other: Lens[Any, Any]) -> FieldsLens[Any, Any] | None:
        """This lens and then another as one, where that is data too."""
        if not isinstance(other, FieldsLens) or not set(other.mapping.values()) <= set(self.mapping):
            return None
        # A cast of a cast can round twice; only one of the two is merged.
        if any(name in other.cast and taken in self.cast for name, taken in other.mapping.items()):
            return None
        mapping = {name: self.mapping[taken] for name, taken in other.mapping.items()}
        cast = {name: self.cast[taken] for name, taken in other.mapping.items() if taken in self.cast}
        return FieldsLens(mapping, source=self.source_type, view=other.view_type, cast={**cast, **other.cast})

    def to_json(self) -> dict[str, Any]:
        """The whole lens but its types, in JSON."""
        out: dict[str, Any] = {"kind": "fields", "fields": dict(self.mapping)}
        if self.cast:
            out["cast"] = {name: dtype.name for name, dtype in self.cast.items()}
        return out

    @staticmethod
    def from_json(data: Mapping[str, Any], *, source: Any, view: Any) -> FieldsLens[Any, Any]:
        """The lens of what `to_json` gave, between two types."""
        if data.get("kind") != "fields":
            raise LensError(f"expected a lens of the kind 'fields', found {data.get('kind')!r}")
        return FieldsLens(data["fields"], source=source, view=view, cast=data.get("cast"))


def structural(source: Any, view: Any) -> FieldsLens[Any, Any]:
    """The lens that gives each field of the view from the one of its name."""
    into, out = fields_of(view), fields_of(source)
    wrong = [f"{name}: not in {name_of(source)}" for name in into if name not in out]
    wrong += [
        f"{name}: {why}" for name, field in into.items() if name in out and (why := unfit(out[name], field, None))
    ]
    if wrong:
        raise LensError(f"no structural lens from {name_of(source)} to {name_of(view)}: {'; '.join(wrong)}")
    return FieldsLens({name: name for name in into}, source=source, view=view)


def dict_lens(view: Any) -> Lens[DictSample, Any]:
    """The lens from `DictSample` that every packable has. Its putter writes the view's fields over the sample's."""
    told = schema(view)

    def get(sample: DictSample) -> Any:
        try:
            return view(**told.decode(DictSample.stored(sample, told)))
        except SampleError as error:
            raise located(view, error) from None

    def put(changed: Any, sample: DictSample) -> DictSample:
        made = copy.copy(sample)
        vars(made).update({name: getattr(changed, name) for name in told.fields})
        return made

    made = Lens(get, put, source_type=DictSample, view_type=view)
    made.__name__ = f"DictSample_to_{name_of(view)}"
    return made


def fields_of(type_: Any) -> Mapping[str, Field]:
    if not is_packable(type_):
        raise LensError(f"{name_of(type_)} is no packable class, so that nothing is known of its fields")
    told: Schema = schema(type_)
    return told.fields


def unfit(source: Field, view: Field, cast: Any) -> str:
    """Why a field's values may not stand in another, empty where they may."""
    if source.optional and not view.optional:
        return f"{source.codec.text} may be None, {view.codec.text} may not"
    given, taken = source.inner, view.inner
    if isinstance(given, ArrayCodec) and isinstance(taken, ArrayCodec):
        scalar = given.scalar if cast is None else np.dtype(cast).type
        fits = taken.scalar is np.generic or issubclass(scalar, taken.scalar)
        shapes = taken.shape is None or given.shape == taken.shape
        return "" if fits and shapes else f"expected {taken.text}, found {given.text}"
    if given == taken or taken.kind == "any":
        return ""
    if taken.kind == "union" and given in getattr(taken, "members", ()):
        return ""
    return f"expected {taken.text}, found {given.text}"
