"""The asyncio loop of a loader: coroutines of an `AsyncDataset`, on one background thread.

Everything marked "on the loop" runs on that thread alone, so that it needs no lock. Others talk to it through
`call_soon_threadsafe`, and wait on a SimpleQueue, which may be put to from finalizers too.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import numpy as np

from headrace.draws import Awaited, Draws, awaited
from headrace.errors import CancelledError, ClosedError
from headrace.loader.fetching import Failed, watch
from headrace.loader.pool import ThreadPool

__all__ = ["AsyncOrigin"]

logger = logging.getLogger("headrace")

ACLOSE_S = 5.0
UNWIND_S = 1.0
HELPER_THREADS = 1024
MISSING = object()
WHOLE = -1
"""The place of a batch that is fetched by one `__getitems__`."""


class AsyncOrigin:
    """Batches of an `AsyncDataset`, at most `in_flight` coroutines at once.

    Args:
        dataset: the dataset.
        in_flight: coroutines at once, over all batches.
        whole: fetch a batch by one call of `__getitems__`.
        each: the reader takes items as they arrive, by `next`.
        every: a failed item does not end its batch; a batch whose `__getitems__` failed is fetched item by item.
    """

    def __init__(self, dataset: Any, in_flight: int, *, whole: bool, each: bool, every: bool) -> None:
        self.get: Callable[[int], Coroutine[Any, Any, Any]] = dataset.__getitem__
        self.get_many: Callable[[list[int]], Awaitable[Iterable[Any]]] | None = dataset.__getitems__ if whole else None
        self.name = type(dataset).__name__
        self.each = each
        self.every = every
        self._aclose: Callable[[], Coroutine[Any, Any, Any]] | None = getattr(dataset, "aclose", None)
        self._in_flight = in_flight
        self._lock = threading.Lock()
        self._loop: LoopThread | None = None
        self._closed = False
        watch(self)

    def start(self, draws: Draws, indices: Sequence[int]) -> AwaitedFetches:
        loop = self._loop
        if loop is None:
            with self._lock:
                if self._closed:
                    raise ClosedError("the loader is closed")
                if self._loop is None:
                    self._loop = LoopThread(self._in_flight)
                loop = self._loop
        fetches = AwaitedFetches(self, loop, draws, indices)
        loop.call(loop.admit, fetches)
        if self._closed:  # the loop may have ended before it was told of this batch
            fetches.cancel()
        return fetches

    def close(self) -> None:
        """Cancels what runs, has `aclose` awaited once, and stops the loop. Waits for `aclose` and nothing else."""
        self._closed = True
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close(self._aclose, self.name)

    def _forget(self) -> None:
        """In a forked child: the loop's thread is the parent's. The loop is kept for ever, as closing it would tell."""
        self._lock = threading.Lock()
        if self._loop is not None:
            _parents.append(self._loop)
            self._loop = None


_parents: list[LoopThread] = []


class AwaitedFetches:
    """One batch of coroutines."""

    def __init__(self, origin: AsyncOrigin, loop: LoopThread, draws: Draws, indices: Sequence[int]) -> None:
        self.origin = origin
        self.draws = draws
        self.indices = indices
        self.ended = False
        self.tasks: set[asyncio.Task[None]] = set()
        self._loop = loop
        self._awaited: dict[int, Awaited] = {}
        self._outcomes: list[Any] = [MISSING] * len(indices)
        self._left = len(indices)
        self._first_failed: int | None = None
        self._broken: BaseException | None = None
        self._cancelled = False
        self._over = False
        self._arrived: SimpleQueue[int | None] = SimpleQueue()
        if not indices:
            self.end()

    def next(self) -> tuple[int, Any] | None:
        if self._over:
            return None
        position = self._arrived.get()
        if position is not None:
            return position, self._outcomes[position]
        self._over = True
        if self._broken is not None:
            raise self._broken
        if self._cancelled:
            raise CancelledError("the batch was cancelled, or its loader closed")
        return None

    def all(self) -> list[Any]:
        while self.next() is not None:
            pass
        return self._outcomes

    def cancel(self) -> None:
        if self.ended or not self._loop.is_ours():
            return
        self._cancelled = True
        self._arrived.put(None)
        self._loop.call(self.end)

    def generator(self, position: int) -> np.random.Generator | None:
        item = self._awaited.get(position)
        return None if item is None else item.generator

    # On the loop

    async def fetch(self, position: int) -> None:
        """Fetches what stands at `position`, which was given a permit."""
        if position == WHOLE:
            await self._fetch_whole()
            return
        index = self.indices[position]
        item = self._awaited[position] = Awaited(self.draws, index)
        awaited.set(item)
        try:
            outcome = await self.origin.get(index)
        except BaseException as error:  # also what would end the loop: it is raised where the batch is taken
            outcome = Failed(error)
        self._deliver(position, outcome)
        del outcome  # a failure's traceback holds this frame

    async def _fetch_whole(self) -> None:
        assert self.origin.get_many is not None
        indices = list(self.indices)
        try:
            samples = list(await self.origin.get_many(list(indices)))
            if len(samples) != len(indices):
                raise ValueError(
                    f"{self.origin.name}.__getitems__ gave {len(samples)} samples for {len(indices)} indices"
                )
        except BaseException as error:
            if self.origin.every and isinstance(error, Exception):
                # The error is one item's, and nobody knows whose: ask for each alone.
                self._loop.waiting.extendleft((self, position) for position in reversed(range(len(indices))))
            else:
                self._broken = error
                self.end()
            return
        for position, sample in enumerate(samples):
            self._deliver(position, sample)

    def _deliver(self, position: int, outcome: Any) -> None:
        if self.ended:
            return
        self._outcomes[position] = outcome
        self._left -= 1
        if self.origin.each:
            self._arrived.put(position)
        if type(outcome) is Failed and (self._first_failed is None or position < self._first_failed):
            self._first_failed = position
        if not self._left or self._is_settled():
            self.end()

    def _is_settled(self) -> bool:
        """Whether the batch has failed for good: no earlier item could still fail in place of the one that did."""
        if self._first_failed is None or self.origin.every or self.origin.each:
            return False
        return not any(outcome is MISSING for outcome in self._outcomes[: self._first_failed])

    def end(self) -> None:
        """Wakes the reader for the last time and cancels what still runs."""
        if not self.ended:
            self.ended = True
            self._arrived.put(None)
            for task in list(self.tasks):
                if task is not asyncio.current_task(self._loop.loop):
                    task.cancel()


class LoopThread:
    """An event loop, its thread, and the permits for what is in flight."""

    def __init__(self, in_flight: int) -> None:
        self.loop = _new_loop()
        self.waiting: deque[tuple[AwaitedFetches, int]] = deque()
        self._free = in_flight
        self._closing = False
        self._process = os.getpid()
        self._stopped = threading.Event()
        helpers = Helpers(min(in_flight + 4, HELPER_THREADS))
        self.loop.set_default_executor(helpers)
        self._thread = threading.Thread(
            target=_serve, args=(self.loop, helpers, self._stopped), name="headrace-asyncio", daemon=True
        )
        self._thread.start()

    def is_ours(self) -> bool:
        """False in a forked child, which has neither the thread nor a use for the parent's loop."""
        return self._process == os.getpid()

    def call(self, function: Callable[..., None], *arguments: Any) -> None:
        """Runs `function` on the loop, soon; a loop that is closed runs nothing more."""
        try:
            self.loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            if not self.loop.is_closed():
                raise

    def close(self, aclose: Callable[[], Coroutine[Any, Any, Any]] | None, name: str) -> None:
        if not self.is_ours():
            return
        self.call(self._begin_to_close, aclose, name)
        # A finalizer may run on the loop's own thread, which cannot wait for itself.
        if aclose is None or threading.current_thread() is self._thread:
            return
        if not self._stopped.wait(UNWIND_S + ACLOSE_S + UNWIND_S):
            logger.error("the event loop of %s is blocked by one of its coroutines; aclose() was not awaited", name)

    # On the loop

    def admit(self, fetches: AwaitedFetches) -> None:
        """Queues the items of a batch behind those of the batches that came before."""
        if self._closing:
            fetches.cancel()
            fetches.end()
            return
        places = range(len(fetches.indices)) if fetches.origin.get_many is None else (WHOLE,)
        self.waiting.extend((fetches, position) for position in places)
        self._fill()

    def _release(self, fetches: AwaitedFetches, task: asyncio.Task[None]) -> None:
        """Takes a permit back and gives it to the next in line; told by the task, which may never have begun."""
        fetches.tasks.discard(task)
        self._free += 1
        self._fill()

    def _fill(self) -> None:
        while self._free and self.waiting and not self._closing:
            fetches, position = self.waiting.popleft()
            if not fetches.ended:
                self._free -= 1
                task = self.loop.create_task(fetches.fetch(position))
                fetches.tasks.add(task)
                task.add_done_callback(functools.partial(self._release, fetches))

    def _begin_to_close(self, aclose: Callable[[], Coroutine[Any, Any, Any]] | None, name: str) -> None:
        if not self._closing:
            self._closing = True
            self._last = self.loop.create_task(self._finish(aclose, name))
            self._last.add_done_callback(lambda _: self.loop.stop())

    async def _finish(self, aclose: Callable[[], Coroutine[Any, Any, Any]] | None, name: str) -> None:
        for fetches, _ in self.waiting:
            fetches.cancel()
            fetches.end()
        self.waiting.clear()
        if tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=UNWIND_S)
        if aclose is not None:
            closing = asyncio.ensure_future(aclose())
            done, _ = await asyncio.wait({closing}, timeout=ACLOSE_S)
            if not done:
                logger.error("%s.aclose() still ran after %g seconds; its event loop stops anyway", name, ACLOSE_S)
                closing.cancel()
                await asyncio.wait({closing}, timeout=UNWIND_S)
            elif not closing.cancelled() and (error := closing.exception()) is not None:
                logger.error("%s.aclose() raised", name, exc_info=error)
        await asyncio.wait({asyncio.ensure_future(self.loop.shutdown_asyncgens())}, timeout=UNWIND_S)


class Helpers(ThreadPoolExecutor):
    """What `asyncio.to_thread` and name resolution run on: threads that keep no interpreter from exiting."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self._pool = ThreadPool("headrace-asyncio-helper", threads)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def job(_: int) -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(*arguments, **keywords))
                except BaseException as error:
                    future.set_exception(error)

        self._pool.run(job)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.close()


def _serve(loop: asyncio.AbstractEventLoop, helpers: Helpers, stopped: threading.Event) -> None:
    try:
        loop.run_forever()
    finally:
        helpers.shutdown()
        loop.close()
        stopped.set()


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
