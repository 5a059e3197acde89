"""How many workers are kept awake: as many as help, and at least one.

Threads that take and release the interpreter lock often slow each other down, and a hand-off costs more than a
very short batch. So the executor measures: it tries fewer, then more workers, keeps the fewest that reach the
best throughput, and looks again at growing intervals.
"""

from __future__ import annotations

from time import perf_counter, process_time

from headrace._native import Window
from headrace.loader.statistics import Stages, has_gil

__all__ = ["AllAwake", "Tuner"]

INTERVAL_S = 0.04
SPIN_US = 15
HOLD_LONGEST = 256


class Tuner:
    """Chooses the number of workers awake for one loader; called by its workers now and then.

    Calls that come while another runs, or too early, return at once. The choice lasts over epochs.
    """

    def __init__(self, workers: int, capacity: int, stages: Stages) -> None:
        self.workers = workers
        self.awake = workers
        self.reason = "all, until measured"
        self.mask = 0
        self._capacity = capacity
        self._stages = stages
        self._group, self._spin_us = 1, 0
        self._seen: tuple[Window, float, float, float, float] | None = None
        self._best_rate = 0.0
        self._best = workers
        self._trial = workers
        self._hold = 0
        self._hold_next = 4
        self._direction = -1

    def apply(self, window: Window) -> None:
        """Sets a new epoch's window as tuned so far."""
        window.tune(self.awake, self._group, self._spin_us)

    def look(self, window: Window) -> None:
        """Measures since the last look and moves a step; a worker calls it between two batches."""
        now, busy = perf_counter(), process_time()
        counts = window.statistics()
        seen = self._seen
        if seen is None or seen[0] is not window:
            self._seen = (window, now, busy, counts["put"], counts["wait_s"])
            return
        elapsed, done = now - seen[1], counts["put"] - seen[3]
        if self._stages.mask:
            if not self.mask:
                # With the lock, whoever waits must let go of it: one change of hands a window. Without, spinning wins.
                self._group, self._spin_us = (self._capacity, 0) if has_gil() else (1, SPIN_US)
                self.mask = 63
                self.awake, self.reason = 1, "batches are shorter than a hand-off"
                self.apply(window)
            return
        if self.mask:
            self.mask, self._group, self._spin_us = 0, 1, 0
            self.awake = self._best = self._trial = self.workers
            self.apply(window)
        if elapsed < INTERVAL_S or done < 2 * self.workers:
            return
        self._seen = (window, now, busy, counts["put"], counts["wait_s"])
        starved = (counts["wait_s"] - seen[4]) / elapsed
        if self.workers > 1:
            self._step(done / elapsed, starved, (busy - seen[2]) / elapsed)
            self.apply(window)

    def _step(self, rate: float, starved: float, busy: float) -> None:
        if starved < 0.1:
            self.reason = "the consumer is the bottleneck"
            return
        if busy < 0.5:
            self.awake = self._best = self._trial = self.workers
            self.reason = "workers wait for input or output"
            return
        if self._hold:
            self._hold -= 1
            return
        if self._trial == self._best:  # this interval measured the present choice: try a neighbour
            self._best_rate = rate
            self._trial = self._neighbour()
        elif rate > self._best_rate * (1.05 if self._trial > self._best else 0.98):
            self._best, self._best_rate = self._trial, rate
            self._trial = self._neighbour()
        else:
            self._trial = self._best
            self._direction = -self._direction
            self._hold = self._hold_next
            self._hold_next = min(2 * self._hold_next, HOLD_LONGEST)
        self.awake = self._trial
        self.reason = f"fastest of those tried: {self._best}"

    def _neighbour(self) -> int:
        trial = self._best // 2 if self._direction < 0 else min(self.workers, self._best * 2)
        if trial < 1 or trial == self._best:
            self._direction = -self._direction
            trial = self._best // 2 if self._direction < 0 else min(self.workers, self._best * 2)
        return max(1, trial)


class AllAwake(Tuner):
    """For workers that wait for what is fetched elsewhere: there is nothing to choose."""

    def __init__(self, workers: int, capacity: int, stages: Stages) -> None:
        super().__init__(workers, capacity, stages)
        self.reason = "workers wait for input or output"
        self.mask = ~0  # looks at the first batch alone

    def apply(self, window: Window) -> None:
        pass

    def look(self, window: Window) -> None:
        pass
