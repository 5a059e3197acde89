"""What a worker does with a batch whose items are fetched elsewhere: begin, transform as they arrive, collate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from headrace.draws import Draws, Items, here
from headrace.loader.batching import Batcher, told
from headrace.loader.fetching import Failed, Fetches, Flights, Origin

__all__ = ["ArrivalBatcher"]


@dataclass(frozen=True)
class ArrivalBatcher(Batcher):
    """Makes batches of what `origin` fetches; the thread that runs it waits, with the interpreter free."""

    origin: Origin

    @property
    def direct(self) -> bool:
        return False

    def runner(self, select: Callable[[int], Sequence[int]], draws: Draws, flights: Flights) -> Callable[[int], Any]:
        stages = self.stages

        def run(number: int) -> Any:
            indices = select(number)
            before, here.items = here.items, None
            try:
                start, transformed = perf_counter(), stages.transform
                fetches = self.origin.start(draws, indices)
                flights.add(fetches)
                try:
                    # A batch made whole by native code (an image plan, collated) would take `fetches` here.
                    outcomes = self._outcomes(fetches, indices, draws)
                finally:
                    flights.remove(fetches)
                    fetches.cancel()
                kept, samples = self._settle(outcomes, indices, draws, number)
                fetched = perf_counter()
                stages.fetch += max(0.0, fetched - start - (stages.transform - transformed))
                batch = self._collated(kept, samples)
                stages.collate += perf_counter() - fetched
                return batch
            except BaseException as error:
                if (other := told(error, (draws, indices, iter(indices)), number)) is not error:
                    raise other from error
                raise
            finally:
                here.items = before

        return run

    def _outcomes(self, fetches: Fetches, indices: Sequence[int], draws: Draws) -> list[Any]:
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

    def _settle(
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


def _item(draws: Draws, indices: Sequence[int], position: int) -> Items:
    """The item at `position` as one that is in the making."""
    one = indices[position : position + 1]
    cursor = iter(one)
    next(cursor)
    return draws, one, cursor
