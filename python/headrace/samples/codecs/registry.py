"""Which codec an annotation has."""

from __future__ import annotations

import threading
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any

from headrace.errors import SchemaError
from headrace.samples.codecs.array import ArrayCodec
from headrace.samples.codecs.base import FieldCodec
from headrace.samples.codecs.choice import ChoiceCodec
from headrace.samples.codecs.collection import DictCodec, SequenceCodec, TupleCodec
from headrace.samples.codecs.moment import MomentCodec
from headrace.samples.codecs.picture import EncodedImageCodec, ImageCodec
from headrace.samples.codecs.record import RecordCodec
from headrace.samples.codecs.scalar import AnyCodec, ScalarCodec
from headrace.samples.codecs.union import UnionCodec

__all__ = ["GROUP", "codec_from_json", "codec_of", "register_codec"]

GROUP = "headrace.field_codecs"
CODECS: list[type[FieldCodec]] = [
    ScalarCodec,
    ArrayCodec,
    UnionCodec,
    ChoiceCodec,
    MomentCodec,
    SequenceCodec,
    TupleCodec,
    DictCodec,
    EncodedImageCodec,
    ImageCodec,
    AnyCodec,
    RecordCodec,
]
lock = threading.Lock()
loaded = False


def register_codec(codec: type[FieldCodec]) -> type[FieldCodec]:
    """Adds a codec for this process; an entry point in the group `headrace.field_codecs` adds one for good."""
    with lock:
        if any(other.kind == codec.kind and other is not codec for other in CODECS):
            raise SchemaError(f"there is a codec of the kind {codec.kind!r} already: give yours another")
        if codec not in CODECS:
            # First, since the type of a codec may be a dataclass, an Enum or a list too.
            CODECS.insert(0, codec)
    return codec


def load_entry_points() -> None:
    global loaded
    if loaded:
        return
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        register_codec(point.load())
    loaded = True


def codec_of(annotation: Any) -> FieldCodec:
    """The codec of a resolved annotation.

    Raises:
        SchemaError: no codec takes the type.
    """
    annotation = expanded(annotation)
    for codec in tuple(CODECS):
        found = codec.match(annotation, codec_of)
        if found is not None:
            return found
    if typing.get_origin(annotation) is Annotated:
        return codec_of(typing.get_args(annotation)[0])
    if not loaded:
        load_entry_points()
        return codec_of(annotation)
    raise SchemaError(
        f"{name_of(annotation)} is no type that samples hold: expected str, int, float, bool, bytes, datetime, Enum, "
        f"Literal, NDArray, EncodedImage, a packable, dataclass or TypedDict, lists, tuples, sets, dicts and unions of "
        f"these, or a type with a codec in the entry point group {GROUP!r}"
    )


def codec_from_json(data: Mapping[str, Any]) -> FieldCodec:
    """The codec of what `FieldCodec.to_json` gave."""
    for again in (False, True):
        if again:
            load_entry_points()
        for codec in tuple(CODECS):
            if codec.kind == data["kind"]:
                return codec.from_json(data, codec_from_json)
    raise SchemaError(f"no codec of the kind {data['kind']!r} is installed (entry point group {GROUP!r})")


def expanded(annotation: Any) -> Any:
    """Without the names that stand for a type: `type X = ...`, NewType; Required and its like."""
    while True:
        origin = typing.get_origin(annotation)
        if hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        elif hasattr(origin, "__value__") and hasattr(origin, "__type_params__"):
            annotation = origin.__value__[typing.get_args(annotation)]
        elif hasattr(annotation, "__value__") and hasattr(annotation, "__type_params__"):
            annotation = annotation.__value__
        elif origin in (typing.Required, typing.NotRequired, typing.Final):
            (annotation,) = typing.get_args(annotation)
        else:
            return annotation


def name_of(annotation: Any) -> str:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return f"{annotation.__module__}.{annotation.__qualname__}".removeprefix("builtins.")
    return str(annotation)
