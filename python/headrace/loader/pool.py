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
    """Runs jobs on daemon threads numbered from 0; a job is called with its thread's number and must not raise."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._idle: deque[SimpleQueue[Job | None]] = deque()
        self._threads: list[threading.Thread] = []
        self._closed = False
        _pools.add(self)

    def run(self, job: Job) -> None:
        """Gives the job to an idle thread, or to a new one."""
        if self._closed:
            raise RuntimeError("the pool is closed")
        try:
            inbox = self._idle.pop()
        except IndexError:
            inbox = SimpleQueue()
            number = len(self._threads)
            # The target holds the pool weakly: a dropped pool ends its threads.
            thread = threading.Thread(
                target=_serve, args=(weakref.ref(self), inbox, number), name=f"{self._name}-{number}", daemon=True
            )
            self._threads.append(thread)
            thread.start()
        inbox.put(job)

    def close(self) -> None:
        """Ends idle threads now and the others after their job; waits for none."""
        self._closed = True
        while self._idle:
            try:
                self._idle.pop().put(None)
            except IndexError:
                return

    def __del__(self) -> None:
        self.close()


def _serve(pool: weakref.ref[ThreadPool], inbox: SimpleQueue[Job | None], number: int) -> None:
    while (job := inbox.get()) is not None:
        job(number)
        del job
        owner = pool()
        if owner is None or owner._closed:
            return
        owner._idle.append(inbox)
        if owner._closed:  # closed in between: nobody may have seen the inbox
            return
        del owner


_pools: weakref.WeakSet[ThreadPool] = weakref.WeakSet()


def _after_fork() -> None:
    """A forked child has none of its parent's threads."""
    for pool in list(_pools):
        pool._idle = deque()
        pool._threads = []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _leave() -> None:
    """Before the interpreter goes, gives threads that can end a moment to do so; stuck ones are left behind."""
    pools = list(_pools)
    for pool in pools:
        pool.close()
    for pool in pools:
        for thread in pool._threads:
            if thread.is_alive():
                thread.join(EXIT_JOIN_S)
                if thread.is_alive():
                    break
