"""`packable` and `PackableSample`: a class into a dataclass with a codec and a schema."""

from __future__ import annotations

import abc
import dataclasses
import sys
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar, cast, dataclass_transform, overload

from headrace import _native
from headrace.errors import SampleError, SchemaError
from headrace.samples.declare import field
from headrace.samples.describe import SCHEMA, schema_of
from headrace.samples.dict_sample import DictSample
from headrace.samples.equality import same
from headrace.samples.schema import Schema, within

__all__ = ["PackableSample", "is_packable", "pack", "packable", "schema", "unpack", "unpack_map"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
MAKING = "__headrace_making__"


def schema(type_: Any) -> Schema:
    """The schema of a packable class, or of a sample of one, whatever its fields are called.

    Raises:
        SchemaError: it is not packable.
    """
    cls = type_ if isinstance(type_, type) else type(type_)
    made = vars(cls).get(SCHEMA)
    if not isinstance(made, Schema):
        raise SchemaError(f"{cls.__name__} is no class of samples: make it one with @packable")
    return made


def is_packable(type_: Any) -> bool:
    """Whether a class was made by `packable` or `PackableSample`."""
    return isinstance(type_, type) and isinstance(vars(type_).get(SCHEMA), Schema)


def pack(sample: Any) -> bytes:
    """The sample's bytes: one msgpack map of its fields, each checked.

    Raises:
        SampleError: a value is not of its field's type; it names class, field, expected and found.
    """
    cls = type(sample)
    if cls is DictSample:
        return DictSample.pack(sample)
    try:
        out: dict[str, Any] = {}
        for name, encode in vars(cls)[SCHEMA].encoders:
            try:
                out[name] = encode(getattr(sample, name))
            except SampleError as error:
                raise within(error, name) from None
        return _native.pack(out)
    except SampleError as error:
        raise located(cls, error) from None
    except KeyError:
        if SCHEMA not in vars(cls):
            raise SchemaError(f"{cls.__name__} is no class of samples: make it one with @packable") from None
        raise


def unpack(type_: type[T], data: bytes, *, validate: bool = False) -> T:
    """The sample of `type_` in the bytes. Arrays are new and writable.

    Fields that the bytes leave out take their defaults, and those that are none of the class's are ignored.

    Args:
        type_: a packable class.
        data: what `pack` gave, or another writer of msgpack maps.
        validate: check the type, dtype and shape of every value, and refuse fields that the class does not have.

    Raises:
        SampleError: the bytes are no sample of the class.
    """
    if type_ is DictSample:
        return cast("T", DictSample.from_bytes(data))
    try:
        plain = _native.unpack(data)
    except SampleError as error:
        raise located(type_, error) from None
    return unpack_map(type_, plain, validate=validate)


def unpack_map(type_: type[T], plain: Any, *, validate: bool = False) -> T:
    """The sample of `type_` in a mapping that was read: values as stored, or as they are in memory."""
    try:
        if not isinstance(plain, Mapping):
            raise SampleError(f"expected a map of fields, found {type(plain).__name__}")
        return type_(**schema(type_).decode(plain, validate=validate))
    except SampleError as error:
        raise located(type_, error) from None


def located(cls: type, error: SampleError) -> SampleError:
    """The error with the class and the field before its message."""
    if error.sample_type is not None:
        return error
    place = cls.__name__ + (f".{error.field}" if error.field else "")
    return SampleError(
        f"{place}: {error}",
        sample_type=cls.__name__,
        field=error.field,
        expected=error.expected,
        found=error.found,
    )


class Packed:
    """`sample.packed`. No data descriptor: a field of the same name stands in the instance and is found first."""

    def __get__(self, sample: object | None, owner: Any = None) -> Any:
        return self if sample is None else pack(sample)


class AsWds:
    """`sample.as_wds`, with a key of its own each time."""

    def __get__(self, sample: object | None, owner: Any = None) -> Any:
        return self if sample is None else {"__key__": uuid.uuid4().hex, "msgpack": pack(sample)}


class PackableMeta(abc.ABCMeta):
    """Makes a dataclass of every class that is derived from PackableSample."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is PackableSample:
            return is_packable(type(instance))
        return super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        if cls is PackableSample:
            return subclass is PackableSample or is_packable(subclass)
        return super().__subclasscheck__(subclass)


@dataclass_transform(field_specifiers=(field, dataclasses.field))
class PackableSample(metaclass=PackableMeta):
    """Base class of samples: a class derived from it becomes a dataclass with a codec and a schema.

    `packable` does the same for a class without a base. The members' names are not reserved: a field may be called
    `packed` or `schema`, and `headrace.pack` and `headrace.schema` reach what it hides.

    Example:
        >>> import numpy as np
        >>> from numpy.typing import NDArray
        >>> from headrace import PackableSample
        >>> class Digit(PackableSample):
        ...     image: NDArray[np.uint8]
        ...     label: int
        >>> digit = Digit(np.zeros((8, 8), np.uint8), 3)
        >>> Digit.from_bytes(digit.packed) == digit
        True
    """

    def __init_subclass__(cls, *, frozen: bool = False, kw_only: bool = False, order: bool = False) -> None:
        super().__init_subclass__()
        # dataclasses and slots make the class a second time from the first's dict.
        if SCHEMA not in vars(cls) and MAKING not in vars(cls):
            make(cls, caller_names(2), frozen=frozen, kw_only=kw_only, order=order)

    packed = cast(bytes, Packed())
    as_wds = cast("dict[str, Any]", AsWds())

    @classmethod
    def from_bytes(cls, data: bytes, *, validate: bool = False) -> Self:
        """The sample in the bytes; see `headrace.unpack`."""
        return unpack(cls, data, validate=validate)

    @classmethod
    def from_data(cls, data: Mapping[str, Any], *, validate: bool = False) -> Self:
        """The sample of a mapping of fields, as stored or as they are in memory."""
        return unpack_map(cls, data, validate=validate)

    @classmethod
    def schema(cls) -> Schema:
        """The class's schema."""
        return schema(cls)


MEMBERS: dict[str, Any] = {
    name: vars(PackableSample)[name] for name in ("packed", "as_wds", "from_bytes", "from_data", "schema")
}


@overload
def packable(cls: type[T], /) -> type[T]: ...
@overload
def packable(
    *, frozen: bool = False, kw_only: bool = False, slots: bool = False, order: bool = False
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(field_specifiers=(field, dataclasses.field))
def packable(
    cls: type[T] | None = None,
    /,
    *,
    frozen: bool = False,
    kw_only: bool = False,
    slots: bool = False,
    order: bool = False,
) -> type[T] | Callable[[type[T]], type[T]]:
    """Makes a dataclass with a codec and a schema of a class, to which there is a lens from `DictSample`.

    It gives the class `packed`, `as_wds`, `from_bytes`, `from_data` and `schema()`, where no field has the name, and an
    equality that knows arrays. Static type checkers see the dataclass; for them `headrace.pack`, `headrace.unpack` and
    `headrace.schema` are typed, or derive from `PackableSample`.

    Args:
        cls: the class; its annotations are its fields.
        frozen, kw_only, slots, order: as for `dataclasses.dataclass`.

    Returns:
        The class.

    Raises:
        SchemaError: a field's type cannot be stored; the message names it.

    Example:
        >>> import headrace
        >>> @headrace.packable
        ... class Point:
        ...     x: float
        ...     y: float = 0.0
        >>> Point.from_bytes(Point(1.5).packed)
        Point(x=1.5, y=0.0)
    """
    names = caller_names(2)
    if cls is not None:
        return cast("type[T]", make(cls, names))
    return lambda given: cast("type[T]", make(given, names, frozen=frozen, kw_only=kw_only, slots=slots, order=order))


def caller_names(depth: int) -> dict[str, Any]:
    """What the code that makes the class can name: a class inside a function is annotated with its locals."""
    frame = sys._getframe(depth)
    names: dict[str, Any] = {}
    while frame is not None:
        if frame.f_code.co_name == "<module>" or frame.f_locals is frame.f_globals:
            break
        names = {**frame.f_locals, **names}
        if frame.f_back is None or frame.f_back.f_globals is not frame.f_globals:
            break
        frame = frame.f_back
    return names


def make(cls: type, names: Mapping[str, Any], *, slots: bool = False, **options: bool) -> type:
    type.__setattr__(cls, MAKING, True)
    own = vars(cls).get("__annotations__", None)
    if own is None:
        own = getattr(cls, "__annotations__", {}) if sys.version_info >= (3, 14) else {}
    for name, hint in own.items():
        if isinstance(hint, dataclasses.InitVar) or "InitVar" in str(hint):
            raise SchemaError(
                f"{cls.__name__}.{name}: an InitVar is not stored, and the sample could not be made again"
            )
        # dataclasses would take the member of a base class for the field's default.
        if name not in vars(cls) and name in MEMBERS:
            setattr(cls, name, dataclasses.field())
    equality = "__eq__" not in vars(cls)
    if "__dataclass_fields__" not in vars(cls):
        cls = dataclasses.dataclass(slots=slots, **options)(cls)
    if equality:
        setattr(cls, "__eq__", equal)  # noqa: B010
    made = schema_of(cls, names)
    type.__setattr__(cls, SCHEMA, made)
    type.__delattr__(cls, MAKING)
    stored = {told.name for told in dataclasses.fields(cls)}
    for name, member in MEMBERS.items():
        if name not in stored and not hasattr(cls, name):
            setattr(cls, name, member)
    return cls


def equal(left: Any, right: Any) -> Any:
    """Samples are equal where their class and their fields are; arrays in dtype, shape and elements."""
    if type(left) is not type(right):
        return NotImplemented
    cls: Any = type(left)
    names = [told.name for told in dataclasses.fields(cls) if told.compare]
    return all(same(getattr(left, name), getattr(right, name)) for name in names)
