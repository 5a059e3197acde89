"""One pass over an epoch, as its consumer sees it."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from headrace._native import Window
from headrace.loader.executors import Job
from headrace.loader.fetching import Flights
from headrace.loader.order import Order
from headrace.loader.stream import StreamReader

__all__ = ["BatchIterator", "Progress"]

Batch_co = TypeVar("Batch_co", covariant=True)


class Progress:
    """How far an epoch has come; outlives its iterator, so that a state can be taken after a loop was left.

    Batch numbers count from `source.start`. `passed` are the numbers that a resumed epoch had given before
    its turn came (`in_order=False`); the window counts the others.
    """

    def __init__(self, epoch: int, source: Order | StreamReader, window: Window, passed: frozenset[int]) -> None:
        self.epoch = epoch
        self.source = source
        self.window = window
        self.passed = passed
        self.ended = False
        self.restarted_at = 0
        self.sampler_state: Any = None
        self.flights = Flights()

    def leave(self) -> None:
        """Ends the epoch where it stands: drops what waits and cancels what is in flight, waiting for nothing."""
        self.window.close()
        self.flights.cancel()

    def number(self, claimed: int) -> int:
        """The batch number behind a window's number."""
        number = claimed + self.restarted_at
        for gone in sorted(self.passed):
            number += number >= gone
        return number

    @property
    def given(self) -> int:
        """All batches below this number were given."""
        return self.number(self.window.given)

    @property
    def ahead(self) -> list[int]:
        """Batches given ahead of `given`."""
        given = self.given
        return sorted({*(self.number(each) for each in self.window.ahead), *(n for n in self.passed if n > given)})


class BatchIterator(Generic[Batch_co]):
    """Iterates over the batches of one epoch; `len` is the number of batches left.

    One thread at a time: a second one inside `next()` gets `RuntimeError`. Dropping it returns at once.
    """

    def __init__(
        self,
        owner: Any,
        progress: Progress,
        batches: int | None,
        begin: Callable[[Progress], Job],
        timeout: float | None,
    ) -> None:
        self._owner = owner  # the loader outlives its iterators
        self._progress = progress
        self._batches = batches
        self._begin = begin
        self._timeout = timeout
        self._take: Callable[[float | None], Any] = owner._executor.start(begin(progress))
        self._at_fork: tuple[int, frozenset[int]] = (0, frozenset())
        _live.add(self)

    def __iter__(self) -> BatchIterator[Batch_co]:
        return self

    def __next__(self) -> Batch_co:
        try:
            batch: Batch_co = self._take(self._timeout)
        except StopIteration:
            self._progress.ended = True
            self._take = _exhausted
            self._progress.window.close()
            raise
        return batch

    def __len__(self) -> int:
        if self._batches is None:
            raise TypeError("the length of a stream is not known")
        progress = self._progress
        return 0 if progress.ended else max(0, self._batches - progress.given - len(progress.ahead))

    def close(self) -> None:
        """Cancels what is in flight and returns at once; `next()` raises from then on."""
        self._progress.leave()

    def __del__(self) -> None:
        progress = getattr(self, "_progress", None)
        if progress is not None:
            progress.leave()

    def _restart(self, timeout: float | None) -> Any:
        """In a forked child: goes on from what the parent had been given."""
        progress = self._progress
        if isinstance(progress.source, StreamReader):
            raise RuntimeError("a stream cannot be read on in a forked child: iterate the loader anew there")
        progress.restarted_at, progress.passed = self._at_fork
        left = (self._batches or 0) - progress.restarted_at - len(progress.passed)
        progress.flights = Flights()
        progress.window = Window(self._owner._executor.capacity, max(0, left), ordered=self._owner._settings.in_order)
        self._take = self._owner._executor.start(self._begin(progress))
        return self._take(timeout)


def _exhausted(_: float | None) -> Any:
    raise StopIteration


_live: weakref.WeakSet[BatchIterator[Any]] = weakref.WeakSet()


def _before_fork() -> None:
    for iterator in list(_live):
        progress = iterator._progress
        iterator._at_fork = progress.given, frozenset(progress.ahead)


def _after_fork() -> None:
    for iterator in list(_live):
        if not iterator._progress.ended:
            iterator._take = iterator._restart


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
