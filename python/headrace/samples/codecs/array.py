"""NumPy arrays: of any dtype, of one, or of one and a shape."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from headrace.errors import SchemaError
from headrace.samples.array_bytes import array_from_bytes, array_to_bytes, dtype_of
from headrace.samples.codecs.base import FieldCodec, FromJson, Resolve, mismatch
from headrace.samples.shape import Shape

__all__ = ["ArrayCodec"]


class ArrayCodec(FieldCodec):
    """An array; `scalar` is NumPy's scalar type (np.generic: any), `shape` None where it is free."""

    kind = "ndarray"
    wire = frozenset({"bin"})

    def __init__(self, scalar: type[np.generic] = np.generic, shape: Shape | None = None) -> None:
        self.scalar = scalar
        self.shape = shape
        array: Any = NDArray[Any] if scalar is np.generic else NDArray[scalar]  # type: ignore[valid-type]
        self.annotation = array if shape is None else Annotated[array, shape]

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> ArrayCodec | None:
        shape = None
        if typing.get_origin(annotation) is Annotated:
            annotation, *notes = typing.get_args(annotation)
            shape = next((note for note in notes if isinstance(note, Shape)), None)
            if shape is None:
                return None
            inner = cls.match(annotation, resolve)
            if inner is None:
                raise SchemaError(f"Shape is for arrays, found {annotation}")
            return cls(inner.scalar, shape)
        if annotation is np.ndarray:
            return cls()
        if typing.get_origin(annotation) is not np.ndarray:
            return None
        dims, dtype = (*typing.get_args(annotation), Any)[:2]
        return cls(scalar_of(dtype), shape_of(dims))

    def encode(self, value: Any) -> bytes:
        self.check(value)
        return array_to_bytes(value)

    def check(self, value: Any) -> None:
        if not isinstance(value, np.ndarray):
            note = ": convert it with np.asarray" if isinstance(value, list | tuple | np.generic) else ""
            raise mismatch(self.text, value, note=note)
        if self.scalar is not np.generic and not issubclass(value.dtype.type, self.scalar):
            raise mismatch(self.text, value, note=": convert it with `.astype`")
        if self.shape is not None and not self.shape.fits(value.shape):
            raise mismatch(self.text, value)

    def decode(self, plain: Any) -> Any:
        if not isinstance(plain, bytes):
            if isinstance(plain, np.ndarray):
                return plain
            raise mismatch(self.text, plain)
        array = array_from_bytes(plain)
        # Another writer puts down a type that NumPy does not have by its size alone.
        if array.dtype.kind == "V" and array.dtype.names is None and self.scalar is not np.generic:
            dtype = self.dtype
            if dtype is not None and dtype.itemsize == array.dtype.itemsize:
                return array.view(dtype)
        return array

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The one dtype that the field holds (native byte order), None where it may be several."""
        return None if self.scalar in ABSTRACT | UNSIZED else np.dtype(self.scalar)

    @property
    def text(self) -> str:
        name = "any dtype" if self.scalar is np.generic else self.scalar.__name__.rstrip("_")
        return f"an array of {name}" + ("" if self.shape is None else f" {self.shape}")

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {"kind": self.kind}
        if self.scalar is not np.generic:
            out["dtype"] = self.scalar.__name__.rstrip("_")
        if self.shape is not None:
            out["shape"] = list(self.shape.dims)
        return out

    @classmethod
    def from_json(cls, data: Mapping[str, Any], resolve: FromJson) -> Self:
        shape = None if data.get("shape") is None else Shape(*data["shape"])
        return cls(scalar_named(data.get("dtype")), shape)

    def local_type(self) -> dict[str, Any]:
        dtype = self.dtype
        out: dict[str, Any] = {"$type": "local#ndarray"}
        if dtype is not None:
            out["dtype"] = dtype.name
        if self.shape is not None:
            out["shape"] = list(self.shape.sizes)
            if all(isinstance(dim, str) for dim in self.shape.dims):
                out["dimensionNames"] = list(self.shape.dims)
        return out


ABSTRACT = {
    np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating,
    np.complexfloating, np.flexible, np.character,
}  # fmt: skip
UNSIZED = {np.str_, np.bytes_, np.void, np.datetime64, np.timedelta64}


def scalar_of(dtype: Any) -> type[np.generic]:
    """The scalar type of an annotation's dtype: `np.dtype[np.float32]`, or a type variable for any."""
    if typing.get_origin(dtype) is np.dtype:
        (dtype,) = typing.get_args(dtype)
    if isinstance(dtype, typing.TypeVar) or dtype is Any:
        return np.generic
    dtype = typing.get_origin(dtype) or dtype
    if dtype is typing.Union or dtype is types.UnionType:
        raise SchemaError("an array of several dtypes: name the kind they share, as in NDArray[np.floating]")
    if isinstance(dtype, type) and issubclass(dtype, np.object_):
        raise SchemaError("an array of Python objects has no bytes of its own")
    if isinstance(dtype, type) and (issubclass(dtype, np.generic) or dtype.__module__.startswith("ml_dtypes")):
        return dtype
    raise SchemaError(f"expected a NumPy scalar type, as np.float32, found {dtype!r}")


def shape_of(dims: Any) -> Shape | None:
    """Number of dimensions of `np.ndarray[tuple[int, int], ...]`, where it says one."""
    if typing.get_origin(dims) is not tuple:
        return None
    sizes = typing.get_args(dims)
    if Ellipsis in sizes or any(size is Any or isinstance(size, typing.TypeVar) for size in sizes):
        return None
    return Shape(*(typing.get_args(s)[0] if typing.get_origin(s) is typing.Literal else None for s in sizes))


def scalar_named(name: str | None) -> type[np.generic]:
    if name is None:
        return np.generic
    found = next((scalar for scalar in ABSTRACT | UNSIZED if scalar.__name__.rstrip("_") == name), None)
    if found is not None:
        return found
    try:
        return np.dtype(name).type if name.isidentifier() else dtype_of(name.encode()).type
    except TypeError:
        return dtype_of(name.encode()).type
