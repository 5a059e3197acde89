"""What may be given as a dataset, and the base classes for one: optional for plain methods, needed for async ones."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Generic, Protocol, TypeVar

from headrace.sources.fetched import FetchedDataset

__all__ = ["AsyncDataset", "MapDataset", "SupportsItems", "check_dataset", "is_fetched", "is_stream"]

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


class AsyncDataset(Generic[Sample]):
    """Base class of a dataset whose items are awaited; the loader runs its coroutines on an asyncio loop of its own.

    Subclasses define `__len__` and `async def __getitem__(self, index)`. They may define
    `async def __getitems__(self, indices)`, which fetches a whole batch in one call and is used with
    `item_concurrency=1`, and `async def aclose(self)`, which is awaited once, for at most 5 seconds, when a loader
    that ran the dataset is closed or collected. Up to `num_workers * item_concurrency` coroutines run at once, all on
    one thread. What belongs to an event loop (a client session, connections) is made inside the coroutines.

    Example:
        >>> import asyncio
        >>> class Squares(AsyncDataset[int]):
        ...     def __len__(self) -> int:
        ...         return 4
        ...     async def __getitem__(self, index: int) -> int:
        ...         await asyncio.sleep(0)
        ...         return index**2
        >>> from headrace import DataLoader
        >>> list(DataLoader(Squares(), batch_size=2, item_concurrency=2))
        [[0, 1], [4, 9]]
    """

    def __len__(self) -> int:
        raise TypeError(f"{type(self).__name__} must define __len__")

    async def __getitem__(self, index: int) -> Sample:
        raise TypeError(f"{type(self).__name__} must define __getitem__")


def is_fetched(dataset: object) -> bool:
    """Whether items are fetched off the workers' threads: on an asyncio loop, or by a native source."""
    return isinstance(dataset, (AsyncDataset, FetchedDataset))


def is_stream(dataset: object) -> bool:
    """Whether the dataset is read from start to end: `__iter__` without `__getitem__`, or torch's IterableDataset."""
    torch_data = sys.modules.get("torch.utils.data")
    if torch_data is not None and isinstance(dataset, torch_data.IterableDataset):
        return True
    return hasattr(dataset, "__iter__") and not hasattr(dataset, "__getitem__")


def check_dataset(dataset: object) -> None:
    """Refuses, when the loader is made, what could not give a single item."""
    name = type(dataset).__name__
    if isinstance(dataset, AsyncDataset) and isinstance(dataset, MapDataset):
        raise TypeError(f"dataset: {name} derives from both MapDataset and AsyncDataset; choose one")
    if is_stream(dataset):
        return
    if not hasattr(dataset, "__getitem__"):
        raise TypeError(f"dataset must have __getitem__ and __len__, or __iter__; {name} has none of them")
    if not hasattr(dataset, "__len__"):
        raise TypeError(f"dataset must have __len__ beside __getitem__; {name} has none")
    for base in (MapDataset, AsyncDataset):
        for method in ("__len__", "__getitem__"):
            if isinstance(dataset, base) and getattr(type(dataset), method) is getattr(base, method):
                raise TypeError(f"dataset: {name} must define {method}")
    wants_async = isinstance(dataset, AsyncDataset)
    for method in ("__getitem__", "__getitems__", *(("aclose",) if wants_async else ())):
        found = getattr(dataset, method, None)
        if found is None or inspect.iscoroutinefunction(found) == wants_async:
            continue
        if wants_async:
            raise TypeError(f"dataset: {name}.{method} must be `async def`, since {name} is an AsyncDataset")
        raise TypeError(f"dataset: {name}.{method} is `async def`; make it plain, or derive from AsyncDataset")
