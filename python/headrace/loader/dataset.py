"""What may be given as a dataset, and the optional base class for one."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["MapDataset", "SupportsItems", "check_dataset", "is_stream"]

Sample = TypeVar("Sample")
Sample_co = TypeVar("Sample_co", covariant=True)


class SupportsItems(Protocol[Sample_co]):
    """Any object with `__len__` and `__getitem__`: a list, an array, a torch or Hugging Face dataset."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> Sample_co: ...


class MapDataset(Generic[Sample]):
    """Optional base class of a map-style dataset.

    Subclasses define `__len__` and `__getitem__(index)`, and may define `__getitems__(indices)`, which
    fetches a whole batch in one call. With `num_workers > 0` both run on several threads at once.
    """

    def __len__(self) -> int:
        raise TypeError(f"{type(self).__name__} must define __len__")

    def __getitem__(self, index: int) -> Sample:
        raise TypeError(f"{type(self).__name__} must define __getitem__")


def is_stream(dataset: object) -> bool:
    """Whether the dataset is read from start to end: `__iter__` without `__getitem__`, or torch's IterableDataset."""
    torch_data = sys.modules.get("torch.utils.data")
    if torch_data is not None and isinstance(dataset, torch_data.IterableDataset):
        return True
    return hasattr(dataset, "__iter__") and not hasattr(dataset, "__getitem__")


def check_dataset(dataset: object) -> None:
    """Refuses, when the loader is made, what could not give a single item."""
    name = type(dataset).__name__
    if is_stream(dataset):
        return
    if not hasattr(dataset, "__getitem__"):
        raise TypeError(f"dataset must have __getitem__ and __len__, or __iter__; {name} has none of them")
    if not hasattr(dataset, "__len__"):
        raise TypeError(f"dataset must have __len__ beside __getitem__; {name} has none")
    for method in ("__getitem__", "__getitems__"):
        if inspect.iscoroutinefunction(getattr(dataset, method, None)):
            raise TypeError(f"dataset: {name}.{method} is `async def`; make it a plain function")
