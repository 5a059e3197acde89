"""What a worker does with a batch whose items are fetched elsewhere: begin, transform as they arrive, collate."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from headrace._native import Window
from headrace.draws import Draws, Items, here
from headrace.loader.batching import Batcher, told
from headrace.loader.fetching import Failed, Fetches, Flights, Origin

__all__ = ["ArrivalBatcher", "ArrivalRunner"]


@dataclass(frozen=True)
class ArrivalBatcher(Batcher):
    """Makes batches of what `origin` fetches; the thread that runs it waits, with the interpreter free."""

    origin: Origin

    @property
    def direct(self) -> bool:
        return False

    def runner(self, select: Callable[[int], Sequence[int]], draws: Draws, flights: Flights) -> ArrivalRunner:
        return ArrivalRunner(self, select, draws, flights)

    def outcomes(self, fetches: Fetches, indices: Sequence[int], draws: Draws) -> list[Any]:
        """Samples, or `Failed`, in the batch's order. When a failure ends the batch, what comes after it is missing."""
        transform, stages = self.transform, self.stages
        if transform is None:
            outcomes = fetches.all()
            self._count(outcomes)
            return outcomes
        missing = object()
        outcomes = [missing] * len(indices)
        end = len(indices)  # the first failure that will raise; what comes after it need not be made
        while (arrival := fetches.next()) is not None:
            position, sample = arrival
            if type(sample) is not Failed and position < end:
                self._count((sample,))
                start = perf_counter()
                sample = self._transformed(transform, sample, position, indices, draws, fetches)
                stages.transform += perf_counter() - start
            outcomes[position] = sample
            if type(sample) is Failed and (self.on_error == "raise" or not isinstance(sample.exception, Exception)):
                end = min(end, position)
            if end < len(indices) and not any(outcome is missing for outcome in outcomes[:end]):
                break
        return outcomes

    def _transformed(
        self,
        transform: Callable[[int, Any], Any],
        sample: Any,
        position: int,
        indices: Sequence[int],
        draws: Draws,
        fetches: Fetches,
    ) -> Any:
        items = _item(draws, indices, position)
        here.items = items
        if (generator := fetches.generator(position)) is not None:
            here.drawn = (items, 0, generator)  # the draws go on where the fetch left them
        try:
            return transform(indices[position], sample)
        except BaseException as error:
            return Failed(error)
        finally:
            here.items = None

    def settle(
        self, outcomes: list[Any], indices: Sequence[int], draws: Draws, number: int
    ) -> tuple[Sequence[int], list[Any]]:
        """Applies the error policy in the batch's order; gives the indices that were kept and their samples."""
        if Failed not in map(type, outcomes):
            return indices, outcomes
        kept: list[int] = []
        samples: list[Any] = []
        for position, outcome in enumerate(outcomes):
            if type(outcome) is not Failed:
                kept.append(indices[position])
                samples.append(outcome)
                continue
            error = outcome.exception
            here.items = items = _item(draws, indices, position)
            try:
                if self.on_error == "raise" or not isinstance(error, Exception):
                    if (other := told(error, items, number)) is not error:
                        raise other from error
                    raise error
                try:
                    self._substitute(error, indices[position], draws, kept, samples)
                except BaseException as raised:
                    if (other := told(raised, items, number)) is not raised:
                        raise other from raised
                    raise
            finally:
                here.items = None
        return kept, samples

    def _count(self, samples: Sequence[Any]) -> None:
        size_bytes = sum(len(sample) for sample in samples if type(sample) is bytes)
        if size_bytes:
            self.stages.size_bytes = (self.stages.size_bytes or 0) + size_bytes


class ArrivalRunner:
    """From a batch number to its batch, for one epoch; batches begin in the order of their numbers.

    The order matters: what is in flight is bounded, and a later batch that came first would take the places of the one
    that the consumer waits for.
    """

    def __init__(
        self, batcher: ArrivalBatcher, select: Callable[[int], Sequence[int]], draws: Draws, flights: Flights
    ) -> None:
        self._batcher = batcher
        self._select = select
        self._draws = draws
        self._flights = flights
        self._begun: dict[int, tuple[Sequence[int], Fetches] | BaseException] = {}

    def claims(self, window: Window) -> Callable[[], int | None]:
        """`window.claim` that begins the batch in the same step. Whoever waits for room holds up those behind it."""
        turn = threading.Lock()

        def claim() -> int | None:
            with turn:
                number = window.claim()
                if number is not None:
                    try:
                        self._begun[number] = self._begin(number)
                    except BaseException as error:
                        self._begun[number] = error
                return number

        return claim

    def __call__(self, number: int) -> Any:
        batcher, draws, stages = self._batcher, self._draws, self._batcher.stages
        before, here.items = here.items, None
        indices: Sequence[int] = ()
        try:
            start, transformed = perf_counter(), stages.transform
            begun = self._begun.pop(number, None)
            if isinstance(begun, BaseException):
                raise begun
            indices, fetches = self._begin(number) if begun is None else begun
            try:
                # A batch made whole by native code (an image plan, collated) would take `fetches` here.
                outcomes = batcher.outcomes(fetches, indices, draws)
            finally:
                self._flights.remove(fetches)
                fetches.cancel()
            kept, samples = batcher.settle(outcomes, indices, draws, number)
            fetched = perf_counter()
            stages.fetch += max(0.0, fetched - start - (stages.transform - transformed))
            batch = batcher.collated(kept, samples)
            stages.collate += perf_counter() - fetched
            return batch
        except BaseException as error:
            if (other := told(error, (draws, indices, iter(indices)), number)) is not error:
                raise other from error
            raise
        finally:
            here.items = before

    def _begin(self, number: int) -> tuple[Sequence[int], Fetches]:
        indices = self._select(number)
        fetches = self._batcher.origin.start(self._draws, indices)
        self._flights.add(fetches)
        return indices, fetches


def _item(draws: Draws, indices: Sequence[int], position: int) -> Items:
    """The item at `position` as one that is in the making."""
    one = indices[position : position + 1]
    cursor = iter(one)
    next(cursor)
    return draws, one, cursor
