"""Samples into a batch of arrays."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["default_collate"]


def default_collate(samples: Sequence[Any]) -> Any:
    """Stacks what torch's default collation stacks, into NumPy arrays.

    Numbers become an array `(n,)` (int64, float64, bool), arrays of equal shape one array `(n, ...)` of their
    dtype, tensors one tensor; strings and bytes a list; mappings, tuples (as a list), named tuples,
    dataclasses and lists are collated field by field.

    Raises:
        ValueError: no samples, arrays of different shapes, or sequences of different lengths.
        TypeError: a type that is none of these, named.
    """
    if not samples:
        raise ValueError("default_collate: a batch needs at least one sample")
    first = samples[0]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(first, torch.Tensor):
        return torch.stack(list(samples))
    if isinstance(first, np.ndarray):
        return _stack(samples, first)
    if isinstance(first, (bool, int, float, complex, np.generic)):
        return np.array(samples)
    if isinstance(first, (str, bytes)):
        return list(samples)
    if isinstance(first, Mapping):
        columns = {key: default_collate([sample[key] for sample in samples]) for key in first}
        return columns if type(first) is not dict else dict(columns)
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        names = [field.name for field in dataclasses.fields(first)]
        return dataclasses.replace(
            first, **{name: default_collate([getattr(sample, name) for sample in samples]) for name in names}
        )
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*_transpose(samples, first))
    if isinstance(first, (tuple, list)):
        return _transpose(samples, first)
    raise TypeError(
        f"default_collate takes numbers, strings, arrays, tensors, mappings, sequences and dataclasses; "
        f"found {type(first).__name__}: pass a collate_fn"
    )


def _stack(samples: Sequence[Any], first: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    batch = np.empty((len(samples), *first.shape), np.result_type(*{sample.dtype for sample in samples}))
    for position, sample in enumerate(samples):
        if sample.shape != first.shape:
            raise ValueError(
                f"default_collate: sample 0 has shape {first.shape}, sample {position} has {sample.shape}: "
                "make them equal, or pass a collate_fn"
            )
        batch[position] = sample
    return batch


def _transpose(samples: Sequence[Any], first: Sequence[Any]) -> list[Any]:
    for position, sample in enumerate(samples):
        if len(sample) != len(first):
            raise ValueError(
                f"default_collate: sample 0 has {len(first)} elements, sample {position} has {len(sample)}"
            )
    return [default_collate(column) for column in zip(*samples, strict=True)]
