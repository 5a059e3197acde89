"""Checks of a template's columns. Integers stay in NumPy arrays, and no string is made for an item before its turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headrace._native import Source

__all__ = ["Column", "TemplateLocations", "template_locations"]

Column = Sequence[int] | Sequence[str] | np.ndarray[Any, Any]
TemplateLocations = tuple[str, list[Any], int]


def template_locations(template: str, columns: Mapping[str, Column] | None, length: int | None) -> TemplateLocations:
    """The template, its columns in the order in which it names them, and the number of items.

    Raises:
        TypeError: A column is not of ints or strs.
        ValueError: Placeholders and columns do not match, or lengths differ.
    """
    if not isinstance(template, str):
        raise TypeError(f"template must be a str, found {template!r}")
    names = Source.placeholders(template)
    given = {} if columns is None else dict(columns)
    if missing := [name for name in names if name not in given]:
        raise ValueError(f"template {template!r} names {missing}, of which there is no column; found {sorted(given)}")
    if unused := [name for name in given if name not in names]:
        raise ValueError(f"template {template!r} does not use the columns {unused}; it names {names}")
    checked = {name: _column(name, given[name]) for name in names}
    lengths = {name: len(column) for name, column in checked.items()}
    if length is not None:
        if isinstance(length, bool) or not isinstance(length, int):
            raise TypeError(f"length must be an int, found {length!r}")
        if length < 0:
            raise ValueError(f"length must be at least 0, found {length}")
        lengths["length="] = length
    if not lengths:
        raise ValueError("length= is required when there are no columns")
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns must have one length, found {lengths}")
    return template, list(checked.values()), next(iter(lengths.values()))


def _column(name: str, column: Any) -> Any:
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise ValueError(f"column {name!r} must have one dimension, found shape {column.shape}")
        kind = column.dtype.kind
        if kind in "iu":
            return np.ascontiguousarray(column, dtype=np.int64 if kind == "i" else np.uint64)
        if kind in "UT":
            return column
        if kind != "O":
            raise TypeError(f"column {name!r} must hold ints or strs, found dtype {column.dtype}")
    elif isinstance(column, str | bytes):
        raise TypeError(f"column {name!r} must be a sequence, found the single value {type(column).__name__}")
    values = tuple(column)
    if all(isinstance(value, str) for value in values):
        return values
    for place, value in enumerate(values):
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            raise TypeError(f"column {name!r} must hold ints alone or strs alone, found {value!r} at {place}")
    numbers = [int(value) for value in values]
    if min(numbers) >= -(2**63) and max(numbers) < 2**63:
        return np.array(numbers, dtype=np.int64)
    if min(numbers) >= 0 and max(numbers) < 2**64:
        return np.array(numbers, dtype=np.uint64)
    return tuple(numbers)
