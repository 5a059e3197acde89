"""Equality of values that may hold arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["same"]


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal: arrays in dtype, shape and elements, containers item for item, the rest by `==`.

    As in Python, what is one object is equal to itself, and a NaN is equal to no other.
    """
    if left is right:
        return True
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return (
            isinstance(left, np.ndarray)
            and isinstance(right, np.ndarray)
            and left.dtype == right.dtype
            and left.shape == right.shape
            and bool(np.all(left == right))
        )
    if isinstance(left, list | tuple):
        return type(left) is type(right) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same(value, right[key]) for key, value in left.items())
        )
    return bool(left == right)
