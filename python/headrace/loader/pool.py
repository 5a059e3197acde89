"""Threads that are kept: idle ones are used again, and none keeps the interpreter from exiting."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

__all__ = ["ThreadPool"]

Job = Callable[[int], None]
EXIT_JOIN_S = 0.5


class ThreadPool:
    """Runs jobs on daemon threads numbered from 0; a job is called with its thread's number and must not raise.

    There are at most `limit` threads: a job beyond that waits for one to come back. Threads above a lowered limit
    end when they come back.
    """

    def __init__(self, name: str, limit: int) -> None:
        self.limit = limit
        self._name = name
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Job | None]] = []
        self._backlog: deque[Job] = deque()
        self._threads: dict[int, threading.Thread] = {}
        self._closed = False
        _pools.add(self)

    def run(self, job: Job) -> None:
        """Gives the job to an idle thread, to a new one, or to the next that comes back."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool is closed")
            if self._idle:
                self._idle.pop().put(job)
            elif len(self._threads) < self.limit:
                number = next(n for n in range(self.limit) if n not in self._threads)
                # The thread holds the pool weakly: a dropped pool ends its threads.
                thread = threading.Thread(
                    target=_serve, args=(weakref.ref(self), job, number), name=f"{self._name}-{number}", daemon=True
                )
                self._threads[number] = thread
                thread.start()
            else:
                self._backlog.append(job)

    def close(self) -> None:
        """Ends idle threads now and the others after their job; waits for none."""
        self._closed = True
        self._backlog.clear()
        while True:
            try:
                self._idle.pop().put(None)
            except IndexError:
                return

    def _next(self, number: int, inbox: SimpleQueue[Job | None]) -> tuple[Job | None, bool]:
        """What a thread that comes back does: a job that waited; else it ends, or idles (True: its inbox will tell)."""
        with self._lock:
            if self._closed or len(self._threads) > self.limit:
                self._threads.pop(number, None)
                return None, False
            if self._backlog:
                return self._backlog.popleft(), False
            self._idle.append(inbox)
            return None, True

    def __del__(self) -> None:
        self.close()


def _serve(pool: weakref.ref[ThreadPool], job: Job | None, number: int) -> None:
    inbox: SimpleQueue[Job | None] = SimpleQueue()
    while job is not None:
        job(number)
        del job
        owner = pool()
        if owner is None:
            return
        job, idle = owner._next(number, inbox)
        del owner
        if idle:
            job = inbox.get()


_pools: weakref.WeakSet[ThreadPool] = weakref.WeakSet()


def _after_fork() -> None:
    """A forked child has none of its parent's threads."""
    for pool in list(_pools):
        pool._lock = threading.Lock()
        pool._idle, pool._backlog, pool._threads = [], deque(), {}


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _leave() -> None:
    """Before the interpreter goes, gives threads that can end a moment to do so; stuck ones are left behind."""
    pools = list(_pools)
    for pool in pools:
        pool.close()
    for pool in pools:
        for thread in list(pool._threads.values()):
            if thread.is_alive():
                thread.join(EXIT_JOIN_S)
                if thread.is_alive():
                    break
