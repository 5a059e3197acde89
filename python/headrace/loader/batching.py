"""What a worker does with a batch number: fetch, transform, collate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from types import CoroutineType
from typing import Any

from headrace._native import Window
from headrace.draws import Draws, Items, here, index_in
from headrace.loader.failures import Failure, FailureLog, OnError
from headrace.loader.fetching import Flights
from headrace.loader.pool import ThreadPool
from headrace.loader.statistics import Stages

__all__ = ["LEFT_OUT", "Batcher", "told"]

LEFT_OUT = object()
"""What `run` gives for a batch all of whose samples were skipped."""


@dataclass(frozen=True)
class Batcher:
    """Makes batches of one loader; the same object serves every epoch and every thread.

    Attributes:
        transform: called as `transform(index, sample)`.
        single: no batching; a batch is its one item.
        lanes: how many items of a batch are fetched at once.
        pin: applied to a finished batch.
    """

    dataset: Any
    transform: Callable[[int, Any], Any] | None
    collate: Callable[[Any], Any] | None
    single: bool
    return_indices: bool
    lanes: int
    on_error: OnError
    failures: FailureLog
    stages: Stages
    pool: ThreadPool
    pin: Callable[[Any], Any] | None

    def runner(self, select: Callable[[int], Sequence[int]], draws: Draws, flights: Flights) -> Callable[[int], Any]:
        """The function from a batch number to its batch, for one epoch of a map-style dataset.

        `flights` is told of what is fetched elsewhere; here nothing is.
        """
        get = self.dataset.__getitem__
        get_many = getattr(self.dataset, "__getitems__", None)
        transform, stages = self.transform, self.stages
        finish, fast = self.finish, self.direct

        def run(number: int) -> Any:
            if not number & stages.mask or not fast:
                return measured(number)
            indices = select(number)
            cursor = iter(indices)
            items = (draws, indices, cursor)
            before, here.items = here.items, items
            try:
                if transform is None:
                    samples = [get(index) for index in cursor]
                else:
                    samples = [transform(index, get(index)) for index in cursor]
                return samples if finish is None else finish(indices, samples)
            except BaseException as error:
                if (other := told(error, items, number)) is not error:
                    raise other from error
                raise
            finally:
                here.items = before

        def measured(number: int) -> Any:
            start = perf_counter()
            indices = select(number)
            items: Items = (draws, indices, iter(indices))
            before, here.items = here.items, items
            try:
                if self.lanes > 1 and len(indices) > 1:
                    kept, samples = self._fetch_at_once(indices, get, draws, number)
                elif get_many is not None and not self.single:
                    kept, samples = self._fetch_whole(indices, get_many, items)
                else:
                    kept, samples = self._fetch_one_by_one(items, get)
                fetched = perf_counter()
                stages.fetch += (fetched - start) * stages.weight
                batch = self.collated(kept, samples)
                collated = perf_counter()
                stages.collate += (collated - fetched) * stages.weight
                stages.settle(collated - start)
                return batch
            except BaseException as error:
                if (other := told(error, items, number)) is not error:
                    raise other from error
                raise
            finally:
                here.items = before

        return run

    def transform_stream(self, number: int, indices: list[int], samples: list[Any], draws: Draws) -> Any:
        """The batch of items that a stream's reader has fetched."""
        start = perf_counter()
        items: Items = (draws, indices, iter(indices))
        before, here.items = here.items, items
        try:
            kept, samples = self._transform_all(items, samples)
            self.stages.transform += perf_counter() - start
            start = perf_counter()
            batch = self.collated(kept, samples)
            self.stages.collate += perf_counter() - start
            return batch
        except BaseException as error:
            if (other := told(error, items, number)) is not error:
                raise other from error
            raise
        finally:
            here.items = before

    @property
    def direct(self) -> bool:
        """Whether a batch is one comprehension: no error policy, no lanes, no `__getitems__`."""
        whole = getattr(self.dataset, "__getitems__", None) is not None and not self.single
        return self.on_error == "raise" and self.lanes == 1 and not whole

    @property
    def finish(self) -> Callable[[Sequence[int], Any], Any] | None:
        """From indices and samples to the batch; None where the list of samples is the batch."""
        return None if self._plain else self._finish

    @property
    def _plain(self) -> bool:
        return not (self.collate or self.single or self.return_indices or self.pin)

    def _finish(self, indices: Sequence[int], samples: Any) -> Any:
        batch = samples[0] if self.single else samples
        if self.collate is not None:
            items, here.items = here.items, None  # no item is in the making
            try:
                batch = self.collate(batch)
            finally:
                here.items = items
        if self.pin is not None:
            batch = self.pin(batch)
        if self.return_indices:
            return batch, (indices[0] if self.single else list(indices))
        return batch

    def collated(self, indices: Sequence[int], samples: list[Any]) -> Any:
        if not samples:
            return LEFT_OUT
        return samples if self._plain else self._finish(indices, samples)

    def _fetch_one_by_one(self, items: Items, get: Callable[[int], Any]) -> tuple[Sequence[int], list[Any]]:
        transform, stages = self.transform, self.stages

        def make(index: int) -> Any:
            sample = _checked(get(index), self.dataset)
            if transform is None:
                return sample
            start = perf_counter()
            sample = transform(index, sample)
            taken = (perf_counter() - start) * stages.weight
            stages.transform += taken
            stages.fetch -= taken
            return sample

        return self._make_each(items, make)

    def _make_each(self, items: Items, make: Callable[[int], Any]) -> tuple[Sequence[int], list[Any]]:
        """Makes the items in turn under the error policy; gives the indices that were kept and their samples."""
        kept: list[int] = []
        samples: list[Any] = []
        draws, _, cursor = items
        for index in cursor:
            try:
                sample = make(index)
            except Exception as error:
                if self.on_error == "raise":
                    raise
                self._substitute(error, index, draws, kept, samples)
            else:
                kept.append(index)
                samples.append(sample)
        return kept, samples

    def _fetch_whole(
        self, indices: Sequence[int], get_many: Callable[[list[int]], Any], items: Items
    ) -> tuple[Sequence[int], list[Any]]:
        try:
            samples = list(get_many(list(indices)))
            if len(samples) != len(indices):
                raise ValueError(
                    f"{type(self.dataset).__name__}.__getitems__ gave {len(samples)} samples for {len(indices)} indices"
                )
        except Exception as error:
            if self.on_error == "raise":
                raise
            # The error is one item's, and nobody knows whose: ask for each alone.
            del error
            return self._fetch_one_by_one(items, self.dataset.__getitem__)
        return self._transform_all(items, samples)

    def _transform_all(self, items: Items, samples: list[Any]) -> tuple[Sequence[int], list[Any]]:
        transform = self.transform
        if transform is None:
            return items[1], samples
        fetched = iter(samples)
        return self._make_each(items, lambda index: transform(index, next(fetched)))

    def _fetch_at_once(
        self, indices: Sequence[int], get: Callable[[int], Any], draws: Draws, number: int
    ) -> tuple[Sequence[int], list[Any]]:
        """Items of one batch on several threads, handed over by a window of their own."""
        window = Window(len(indices), len(indices))
        home = here.worker

        def lane(_: int) -> None:
            here.worker = home
            while (place := window.claim()) is not None:
                one = indices[place : place + 1]
                items: Items = (draws, one, iter(one))
                before, here.items = here.items, items
                try:
                    window.put(place, self._fetch_one_by_one(items, get))
                except BaseException as error:
                    window.fail(place, told(error, items, number))
                finally:
                    here.items = before

        try:
            for _ in range(min(self.lanes, len(indices)) - (home is None)):
                self.pool.run(lane)
            if home is None:
                lane(0)
            parts = [window.take() for _ in indices]
        finally:
            window.close()
        return [index for kept, _ in parts for index in kept], [sample for _, part in parts for sample in part]

    def _substitute(self, error: Exception, index: int, draws: Draws, kept: list[int], samples: list[Any]) -> None:
        failure = Failure(index, draws.epoch, error)
        self.failures.add(failure)
        if callable(self.on_error):
            samples.append(self.on_error(failure))
            kept.append(index)


def _checked(sample: Any, dataset: Any) -> Any:
    if type(sample) is CoroutineType:
        sample.close()
        raise TypeError(
            f"{type(dataset).__name__}.__getitem__ gave a coroutine: an `async def` function was called without `await`"
        )
    return sample


def told(error: BaseException, items: Items, number: int) -> BaseException:
    """The error with a note that says where; a StopIteration, which a `for` loop would eat, becomes a RuntimeError."""
    if isinstance(error, StopIteration):
        replacement = RuntimeError("a dataset, transform or collate_fn raised StopIteration")
        replacement.__cause__ = error
        error = replacement
    if not any(note.startswith("headrace: ") for note in getattr(error, "__notes__", ())):
        index, home = index_in(items), here.worker
        where = "the calling thread" if home is None else f"worker {home}"
        error.add_note(f"headrace: dataset index {index}, batch {number}, {where}")
    return error
