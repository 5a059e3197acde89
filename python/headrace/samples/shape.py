"""`Shape`: what an array field's annotation says of its dimensions."""

from __future__ import annotations

from headrace.errors import SchemaError

__all__ = ["Shape"]


class Shape:
    """Dimensions of an array: an int is fixed, a name or None is free, and equal names are equal sizes.

    Example:
        >>> from typing import Annotated
        >>> import numpy as np
        >>> from numpy.typing import NDArray
        >>> Pixels = Annotated[NDArray[np.uint8], Shape("H", "W", 3)]
    """

    __slots__ = ("dims",)

    def __init__(self, *dims: int | str | None) -> None:
        for dim in dims:
            if isinstance(dim, bool) or not (
                dim is None or isinstance(dim, str) or (isinstance(dim, int) and dim >= 0)
            ):
                raise SchemaError(f"Shape: expected sizes of at least 0, names or None, found {dim!r}")
        self.dims = dims

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape may stand in the field."""
        if len(shape) != len(self.dims):
            return False
        named: dict[str, int] = {}
        for dim, size in zip(self.dims, shape, strict=True):
            if isinstance(dim, int):
                if dim != size:
                    return False
            elif dim is not None and named.setdefault(dim, size) != size:
                return False
        return True

    @property
    def sizes(self) -> tuple[int | None, ...]:
        """The dimensions with None for those that are free."""
        return tuple(dim if isinstance(dim, int) else None for dim in self.dims)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape) and self.dims == other.dims

    def __hash__(self) -> int:
        return hash(self.dims)

    def __repr__(self) -> str:
        return f"Shape({', '.join(map(repr, self.dims))})"

    def __str__(self) -> str:
        inner = ", ".join("*" if dim is None else str(dim) for dim in self.dims)
        return f"({inner},)" if len(self.dims) == 1 else f"({inner})"
