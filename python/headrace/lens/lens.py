"""`Lens`: a getter from a source to a view, and a putter back."""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from headrace.errors import LensError

if TYPE_CHECKING:
    from headrace.lens.fields import FieldsLens
    from headrace.lens.laws import LawReport

__all__ = ["Lens", "lens"]

S = TypeVar("S")
V = TypeVar("V")
W = TypeVar("W")
Get = Callable[[S], V]
Put = Callable[[V, S], S]


class Lens(Generic[S, V]):
    """A view of type `V` of a source of type `S`.

    Args:
        get: makes the view of a source.
        put: makes the source that has a view, from the view and the source before: `put(view, source)`.
        source_type, view_type: the types, where `get` is not annotated with them.

    Raises:
        LensError: a type is neither annotated nor given.

    Example:
        >>> from headrace import Lens
        >>> double = Lens(lambda x: 2 * x, lambda view, source: view / 2, source_type=float, view_type=float)
        >>> double.get(1.5), double.put(8.0, 1.5), (double | double).get(1.0)
        (3.0, 4.0, 4.0)
    """

    def __init__(
        self, get: Get[S, V], put: Put[V, S] | None = None, *, source_type: Any = None, view_type: Any = None
    ) -> None:
        if source_type is None or view_type is None:
            source, view = types_of(get, names_of_caller(get))
            source_type, view_type = source_type or source, view_type or view
        self.source_type: type[S] = source_type
        self.view_type: type[V] = view_type
        self.getter = get
        self.back = put
        self.__name__ = getattr(get, "__name__", f"{name_of(source_type)}_to_{name_of(view_type)}")
        self.__qualname__ = getattr(get, "__qualname__", self.__name__)
        self.__module__ = getattr(get, "__module__", __name__)
        self.__doc__ = getattr(get, "__doc__", None)

    def get(self, source: S) -> V:
        """The view of a source."""
        return self.getter(source)

    __call__ = get

    def put(self, view: V, source: S) -> S:
        """The source that has this view, everything else as in `source`.

        Raises:
            LensError: the lens has no putter.
        """
        if self.back is None:
            raise LensError(
                f"{self} has no putter: define one with @{self.__name__}.putter, or give Lens(get, put) the second"
            )
        return self.back(view, source)

    @property
    def has_putter(self) -> bool:
        return self.back is not None

    def putter(self, put: Put[V, S]) -> Put[V, S]:
        """Decorates the function that puts a view back: `put(view, source) -> source`."""
        self.back = put
        return put

    def __or__(self, other: Lens[V, W]) -> Lens[S, W]:
        """`a | b`: first a, then b."""
        return compose(self, other)

    def __matmul__(self, other: Lens[W, S]) -> Lens[W, V]:
        """`b @ a`: first a, then b."""
        return compose(other, self)

    def check(self, samples: Iterable[S]) -> LawReport:
        """Whether the lens keeps the laws on these samples; see `LawReport`."""
        from headrace.lens.laws import check

        return check(self, samples)

    @staticmethod
    def identity(type_: type[S]) -> Lens[S, S]:
        """The lens whose view is the source itself."""
        return Lens(same_sample, put_all, source_type=type_, view_type=type_)

    @staticmethod
    def fields(
        fields: Mapping[str, str], *, source: type[S], view: type[V], cast: Mapping[str, Any] | None = None
    ) -> FieldsLens[S, V]:
        """A lens that is data: fields renamed, selected and cast.

        Args:
            fields: view field -> source field.
            source, view: the packable types.
            cast: view field -> dtype of an array field.
        """
        from headrace.lens.fields import FieldsLens

        return FieldsLens(fields, source=source, view=view, cast=cast)

    @staticmethod
    def structural(source: type[S], view: type[V]) -> FieldsLens[S, V]:
        """The lens between types whose fields have the same names, where the source has all that the view has.

        Raises:
            LensError: a field of the view is not in the source, or is of another type; it lists them.
        """
        from headrace.lens.fields import structural

        return structural(source, view)

    def __repr__(self) -> str:
        return f"Lens({self.__name__}: {name_of(self.source_type)} -> {name_of(self.view_type)})"


def lens(get: Callable[[S], V]) -> Lens[S, V]:
    """Makes a lens of a function annotated with its source and its view, and registers it in `LensNetwork()`.

    Example:
        >>> import headrace
        >>> @headrace.packable
        ... class Circle:
        ...     radius: float
        >>> @headrace.packable
        ... class Disc:
        ...     area: float
        >>> @headrace.lens
        ... def disc(circle: Circle) -> Disc:
        ...     return Disc(3.141592653589793 * circle.radius**2)
        >>> disc.get(Circle(1.0)).area
        3.141592653589793
    """
    from headrace.lens.network import LensNetwork

    source, view = types_of(get, names_of_caller(get))
    made: Lens[S, V] = Lens(get, source_type=source, view_type=view)
    LensNetwork().register(made)
    return made


def compose(first: Lens[S, V], second: Lens[V, W]) -> Lens[S, W]:
    if not fits(first.view_type, second.source_type):
        raise LensError(
            f"{first} | {second}: the first gives {name_of(first.view_type)}, the second takes "
            f"{name_of(second.source_type)}"
        )
    merged = first.merge(second) if hasattr(first, "merge") else None
    if merged is not None:
        return typing.cast("Lens[S, W]", merged)

    def get(source: S) -> W:
        return second.get(first.get(source))

    def put(view: W, source: S) -> S:
        return first.put(second.put(view, first.get(source)), source)

    both = first.has_putter and second.has_putter
    made = Lens(get, put if both else None, source_type=first.source_type, view_type=second.view_type)
    made.__name__ = f"{first.__name__} | {second.__name__}"
    return made


def fits(given: Any, taken: Any) -> bool:
    return given is taken or (isinstance(given, type) and isinstance(taken, type) and issubclass(given, taken))


def same_sample(source: Any) -> Any:
    return source


def put_all(view: Any, source: Any) -> Any:
    return view


def names_of_caller(get: Any) -> dict[str, Any]:
    """Locals of the functions around, for annotations that name classes defined there."""
    names: dict[str, Any] = {}
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals is getattr(get, "__globals__", None):
        if frame.f_locals is not frame.f_globals:
            names = {**frame.f_locals, **names}
        if frame.f_back is None:
            break
        frame = frame.f_back
    return names


def types_of(get: Any, names: Mapping[str, Any]) -> tuple[Any, Any]:
    """Source and view type of an annotated getter."""
    name = getattr(get, "__name__", repr(get))
    try:
        hints = typing.get_type_hints(get, localns=dict(names))
        parameters = list(inspect.signature(get).parameters.values())
    except (NameError, TypeError, ValueError) as error:
        raise LensError(f"the annotations of {name} cannot be resolved: {error}") from None
    if not parameters or parameters[0].name not in hints or "return" not in hints:
        raise LensError(
            f"{name}: expected a function of one sample, annotated with its source and its view, as in "
            f"`def {name}(sample: Source) -> View`"
        )
    return hints[parameters[0].name], hints["return"]


def name_of(type_: Any) -> str:
    return getattr(type_, "__name__", str(type_))
