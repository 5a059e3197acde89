"""Batches whose items are fetched elsewhere: begun in one call, read as they arrive or all at once.

Two origins fit the protocols: coroutines on an asyncio loop (coroutines.py) and native sources (below). How many
requests are in flight is theirs to bound, over all batches and first come, first served, so that the requests of the
next batch start while the last ones of this batch trickle in.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from headrace import _native
from headrace.draws import Draws
from headrace.errors import ClosedError

__all__ = ["Failed", "Fetches", "Flights", "NativeOrigin", "Origin", "watch"]


class Failed:
    """What stands in an item's place when fetching it raised."""

    __slots__ = ("exception",)

    def __init__(self, exception: BaseException) -> None:
        self.exception = exception


class Fetches(Protocol):
    """One batch on its way. Waits release the interpreter and end with CancelledError after `cancel`."""

    def next(self) -> tuple[int, Any] | None:
        """Position in the batch and sample, or `Failed`, in the order of arrival; None once all were given."""

    def all(self) -> list[Any]:
        """The samples, or `Failed`, in the batch's order."""

    def cancel(self) -> None:
        """Drops what is in flight and returns at once; nothing once all has arrived. Any thread, and finalizers."""

    def generator(self, position: int) -> np.random.Generator | None:
        """The random generator that the item has drawn from while it was fetched, if it has."""


class Origin(Protocol):
    """Where a loader's fetches come from. A forked child's first `start` makes anew what the fork has lost."""

    def start(self, draws: Draws, indices: Sequence[int]) -> Fetches:
        """Begins a batch and returns."""

    def close(self) -> None:
        """Ends what runs and releases what was made. Idempotent."""


class Flights:
    """The fetches of one epoch that are under way, for whoever leaves it early.

    No lock: `cancel` is also called by finalizers, which may run inside any other call.
    """

    def __init__(self) -> None:
        self._running: set[Fetches] = set()
        self._cancelled = False

    def add(self, fetches: Fetches) -> None:
        self._running.add(fetches)
        if self._cancelled:
            fetches.cancel()

    def remove(self, fetches: Fetches) -> None:
        self._running.discard(fetches)

    def cancel(self) -> None:
        self._cancelled = True
        for fetches in list(self._running):
            fetches.cancel()


class NativeFetches:
    """A native batch whose errors stand as `Failed`."""

    __slots__ = ("_fetches", "cancel")

    def __init__(self, fetches: _native.Fetches) -> None:
        self._fetches = fetches
        self.cancel = fetches.cancel

    def next(self) -> tuple[int, Any] | None:
        arrival = self._fetches.next()
        if arrival is None or type(arrival[1]) is bytes:
            return arrival
        return arrival[0], Failed(arrival[1])  # type: ignore[arg-type]

    def all(self) -> list[Any]:
        items: list[Any] = self._fetches.all()
        if items and set(map(type, items)) != {bytes}:
            items = [item if type(item) is bytes else Failed(item) for item in items]
        return items

    def generator(self, position: int) -> None:
        return None


class NativeOrigin:
    """A dataset with a native source, on a runtime of this loader's own."""

    def __init__(self, dataset: Any, threads: int | None, in_flight: int) -> None:
        self._dataset = dataset
        self._threads = threads
        self._in_flight = in_flight
        self._runtime: _native.Runtime | None = None
        self._lock = threading.Lock()
        self._closed = False
        watch(self)

    def start(self, draws: Draws, indices: Sequence[int]) -> NativeFetches:
        runtime = self._runtime
        if runtime is None:
            with self._lock:
                if self._closed:
                    raise ClosedError("the loader is closed")
                if self._runtime is None:
                    self._runtime = _native.Runtime(self._threads, self._in_flight)
                runtime = self._runtime
        return NativeFetches(self._dataset._source.start(runtime, indices, self._in_flight))

    def close(self) -> None:
        self._closed = True
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            runtime.close()

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._runtime = None


_origins: weakref.WeakSet[Any] = weakref.WeakSet()
_watching = False


def watch(origin: Any) -> None:
    """Has `origin._forget()` called in a forked child, and `origin.close()` before the interpreter goes."""
    global _watching
    _origins.add(origin)
    if not _watching:
        # Registered late, so that it runs before the pool's threads are waited for: it ends what they wait for.
        _watching = True
        atexit.register(_leave)


def _leave() -> None:
    for origin in list(_origins):
        origin.close()


def _after_fork() -> None:
    for origin in list(_origins):
        origin._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
