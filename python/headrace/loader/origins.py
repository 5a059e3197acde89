"""Which datasets are fetched elsewhere, from where, and with how many threads that wait."""

from __future__ import annotations

from typing import Any

from headrace.loader.arguments import Settings
from headrace.loader.dataset import AsyncDataset
from headrace.loader.fetching import NativeOrigin, Origin
from headrace.sources.fetched import FetchedDataset
from headrace.sources.file import FileDataset

__all__ = ["origin_of", "threads_of"]


def origin_of(dataset: Any, settings: Settings) -> Origin | None:
    """Where the items come from; None for a dataset whose methods run on the workers themselves."""
    in_flight = max(1, settings.workers) * settings.lanes
    if isinstance(dataset, AsyncDataset):
        from headrace.loader.coroutines import AsyncOrigin  # asyncio, for those who use it

        has_whole = getattr(dataset, "__getitems__", None) is not None
        return AsyncOrigin(
            dataset,
            in_flight,
            whole=has_whole and settings.lanes == 1 and not settings.single,
            each=settings.transform is not None,
            every=settings.on_error != "raise",
        )
    if isinstance(dataset, FetchedDataset):
        return NativeOrigin(dataset, settings.runtime_threads, in_flight)
    return None


def threads_of(dataset: Any, settings: Settings) -> int:
    """Threads that make batches at once.

    Threads that only wait for requests cost nothing: one for each batch that may exist keeps all requests in flight.
    Files are read by the very threads that ask for them, so there as many as the user said.
    """
    waits = isinstance(dataset, AsyncDataset) or (
        isinstance(dataset, FetchedDataset) and not isinstance(dataset, FileDataset)
    )
    return settings.capacity if waits else settings.workers
