"""Who makes the batches of an epoch: the calling thread, or workers on threads.

An executor fills the epoch's window and knows nothing of orders, states or errors. Others (an asyncio loop,
native code, processes) fit the same protocol.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Protocol

from headrace._native import Window
from headrace.draws import here
from headrace.loader.batching import LEFT_OUT
from headrace.loader.pool import ThreadPool
from headrace.loader.stream import StreamReader
from headrace.loader.tuning import Tuner

__all__ = ["Executor", "InlineExecutor", "Job", "ThreadExecutor"]


@dataclass(frozen=True)
class Job:
    """One epoch's work.

    Attributes:
        window: numbers to claim, and where results go.
        run: from a claimed number to its batch (map-style datasets).
        reader: the stream to read from, where there is one.
        run_items: from a number, indices and items to a batch (streams).
        claim: takes the next number from the window, where more is to be done in that step.
        direct: makes, counts and gives the next batch on the calling thread, where that has a way of its own.
    """

    window: Window
    run: Callable[[int], Any] | None
    reader: StreamReader | None = None
    run_items: Callable[[int, list[int], list[Any]], Any] | None = None
    claim: Callable[[], int | None] | None = None
    direct: Callable[[float | None], Any] | None = None


class Executor(Protocol):
    """Fills windows. `start` returns at once; work ends when the window is closed or used up."""

    capacity: int

    def start(self, job: Job) -> Callable[[float | None], Any]:
        """Begins the job and gives the function that takes its next batch (argument: timeout in seconds)."""

    def close(self) -> None:
        """Lets go of threads; none is waited for."""


class InlineExecutor:
    """Makes each batch when it is asked for, on the calling thread."""

    capacity = 1

    def start(self, job: Job) -> Callable[[float | None], Any]:
        if job.direct is not None:
            return job.direct
        window, run, reader = job.window, job.run, job.reader
        give, fail, take = window.give, window.fail, window.take

        def read(number: int) -> Any:
            assert reader is not None and job.run_items is not None
            found = reader.read()
            if found is None:
                window.finish(number)
                return LEFT_OUT
            return job.run_items(number, *found)

        if run is None:
            run = read

        def next_batch(_: float | None) -> Any:
            for number in window:
                try:
                    batch = run(number)
                except BaseException as error:
                    fail(number, error)
                    return take()
                if batch is not LEFT_OUT:
                    give(number)
                    return batch
                window.skip(number)
            return take()

        return next_batch

    def close(self) -> None:
        pass


class ThreadExecutor:
    """Makes batches on `workers` threads; a batch costs its worker one claim and one put."""

    def __init__(
        self,
        workers: int,
        capacity: int,
        tuner: Tuner,
        init: Callable[[int], Any] | None,
    ) -> None:
        self.workers = workers
        self.capacity = capacity
        self.tuner = tuner
        self._init = init
        self._pool = ThreadPool("headrace-worker", workers)
        self._reader_pool = ThreadPool("headrace-reader", 1)
        self._left: list[Window] = []
        self._home = threading.local()

    def start(self, job: Job) -> Callable[[float | None], Any]:
        self.tuner.apply(job.window)
        # An epoch that still runs needs its workers; those inside an epoch that was left may be stuck there.
        self._left = [window for window in self._left if window.outstanding or not window.closed]
        held = sum(window.outstanding if window.closed else self.workers for window in self._left)
        self._pool.limit = self.workers + held
        self._reader_pool.limit = 1 + len(self._left)
        self._left.append(job.window)
        if job.reader is None:
            work = self._map_worker(job)
        else:
            items: SimpleQueue[Any] = SimpleQueue()
            self._reader_pool.run(_reader(job, items, self.workers))
            work = self._stream_worker(job, items)
        for _ in range(self.workers):
            self._pool.run(work)
        return job.window.take

    def close(self) -> None:
        self._pool.close()
        self._reader_pool.close()

    def _initialise(self, number: int) -> BaseException | None:
        """Runs worker_init_fn once in each thread; what it raised fails the batches of that worker."""
        here.worker = number
        home = self._home
        if not hasattr(home, "broken"):
            home.broken = None
            try:
                if self._init is not None:
                    self._init(number)
            except BaseException as error:
                home.broken = error
        broken: BaseException | None = home.broken
        return broken

    def _map_worker(self, job: Job) -> Callable[[int], None]:
        window, run, tuner, initialise = job.window, job.run, self.tuner, self._initialise
        assert run is not None

        def work(number: int) -> None:
            broken = initialise(number)
            claim, put, fail = job.claim or window.claim, window.put, window.fail
            while (claimed := claim()) is not None:
                try:
                    if broken is not None:
                        raise broken
                    batch = run(claimed)
                except BaseException as error:
                    fail(claimed, error)
                else:
                    if batch is LEFT_OUT:
                        window.skip(claimed)
                    else:
                        put(claimed, batch)
                    del batch
                if not claimed & tuner.mask:
                    tuner.look(window)

        return work

    def _stream_worker(self, job: Job, items: SimpleQueue[Any]) -> Callable[[int], None]:
        window, run_items, initialise = job.window, job.run_items, self._initialise
        assert run_items is not None

        def work(number: int) -> None:
            broken = initialise(number)
            while (found := items.get()) is not None:
                claimed, indices, samples = found
                try:
                    if broken is not None:
                        raise broken
                    batch = run_items(claimed, indices, samples)
                except BaseException as error:
                    window.fail(claimed, error)
                else:
                    if batch is LEFT_OUT:
                        window.skip(claimed)
                    else:
                        window.put(claimed, batch)
                    del batch
                del found, samples

        return work


def _reader(job: Job, items: SimpleQueue[Any], workers: int) -> Callable[[int], None]:
    """Reads the stream in order, as far ahead as the window has room."""
    window, reader = job.window, job.reader
    assert reader is not None

    def read(_: int) -> None:
        try:
            while (number := window.claim()) is not None:
                try:
                    found = reader.read()
                except BaseException as error:
                    if isinstance(error, StopIteration):
                        error = RuntimeError("the dataset's iterator raised StopIteration")
                    window.fail(number, error)
                    continue
                if found is None:
                    window.skip(number)
                    window.finish(number)
                    return
                items.put((number, *found))
        finally:
            for _ in range(workers):
                items.put(None)

    return read
