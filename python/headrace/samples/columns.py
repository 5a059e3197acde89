"""The values of one field over a batch, as one array where they make one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headrace.samples.schema import Field

__all__ = ["column"]

# Both kinds of a dict's numbers, and the dtype that holds them all.
NUMBERS: dict[frozenset[type], Any] = {
    frozenset({bool}): np.bool_,
    frozenset({float}): np.float64,
    frozenset({float, int}): np.float64,
}


def column(values: Sequence[Any], *, field: Field | None = None, pad: Any = None) -> Any:
    """The values of a field as a batch gives them.

    Args:
        values: one value a sample.
        field: what the schema says of the field, where there is one; it says what an empty batch gives.
        pad: fills ragged arrays up to the largest of the batch in every dimension.

    Returns:
        For arrays of one shape, `np.stack` of them; for ragged ones a list, or with `pad` an array. For numbers an
        array: bool, int64 (uint64 where only that holds them), float64. For all else, and where None is among them, a
        list.
    """
    if not values:
        return empty(field)
    kinds = frozenset(map(type, values))
    if all(isinstance(value, np.ndarray) for value in values):
        shapes = {value.shape for value in values}
        if len(shapes) == 1:
            return np.stack(values)
        if pad is not None and len({len(shape) for shape in shapes}) == 1:
            return padded(values, pad)
        return list(values)
    if field is not None and field.kind == "scalar" and field.inner.text == "float" and kinds <= {int, float}:
        return np.array(values, np.float64)
    if kinds in NUMBERS:
        return np.array(values, NUMBERS[kinds])
    if kinds == {int}:
        least, most = min(values), max(values)
        if least >= -(1 << 63) and most < 1 << 63:
            return np.array(values, np.int64)
        if least >= 0 and most < 1 << 64:
            return np.array(values, np.uint64)
    return list(values)


def padded(values: Sequence[Any], pad: Any) -> Any:
    """`(batch, largest sizes...)`, each array in the corner at 0 and `pad` around it."""
    sizes = [max(value.shape[axis] for value in values) for axis in range(values[0].ndim)]
    out = np.full((len(values), *sizes), pad, np.result_type(*(value.dtype for value in values)))
    for place, value in zip(out, values, strict=True):
        place[tuple(slice(size) for size in value.shape)] = value
    return out


def empty(field: Field | None) -> Any:
    """What no sample gives: an array of length 0 where the schema says of what."""
    if field is None or field.optional:
        return []
    if field.kind == "ndarray" and field.dtype is not None:
        sizes = tuple(size if isinstance(size, int) else 0 for size in field.shape or ())
        return np.empty((0, *sizes), field.dtype)
    if field.kind == "scalar":
        dtype = {"int": np.int64, "float": np.float64, "bool": np.bool_}.get(field.inner.text)
        if dtype is not None:
            return np.empty(0, dtype)
    return []
