"""Where a loader's time goes, in numbers and in words."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Stages", "Stats", "has_gil", "report"]

OFTEN = 63
SHORT_S = 100e-6


class Stages:
    """Seconds of each stage, summed over workers.

    Of short batches one in 64 is measured and counts for all (`mask`), so that measuring costs next to nothing.
    Sums are kept without a lock: under free threading an addition may get lost, which a statistic can bear.
    """

    __slots__ = ("_short", "collate", "fetch", "mask", "size_bytes", "transform")

    def __init__(self) -> None:
        self.fetch = 0.0
        self.transform = 0.0
        self.collate = 0.0
        self.mask = 0
        self.size_bytes: int | None = None
        self._short = 0

    @property
    def weight(self) -> int:
        return self.mask + 1

    def settle(self, batch_s: float) -> None:
        """Told how long a measured batch took, measures fewer once most were short."""
        self._short = max(0, self._short - 2) if batch_s > SHORT_S else min(8, self._short + 1)
        if self._short in (0, 8):
            self.mask = OFTEN if self._short else 0


@dataclass(frozen=True)
class Occupancy:
    """Batches in the making or waiting, seen by each `next()`."""

    mean: float
    largest: int


@dataclass(frozen=True)
class Stats:
    """Counts and seconds since the loader was made.

    Attributes:
        batches: batches given.
        samples: samples in them.
        bytes: bytes fetched where known, else None.
        seconds: `fetch`, `transform`, `collate` summed over workers; `consumer`: workers waited for room;
            `wait`: the consumer waited for a batch.
        window: how full the window was.
        workers_awake: how many workers may run at once now.
        awake_reason: why that many.
        failures: samples that failed and were skipped or substituted.
        left_out: batches of which no sample was left.
    """

    batches: int
    samples: int
    bytes: int | None
    seconds: Mapping[str, float]
    window: Occupancy
    workers_awake: int
    awake_reason: str
    failures: int
    left_out: int
    elapsed_s: float
    num_workers: int


def report(stats: Stats) -> str:
    """The statistics in words: the bottleneck, and what to turn."""
    if not stats.batches:
        return "no batch was given yet"
    seconds, elapsed = stats.seconds, max(stats.elapsed_s, 1e-9)
    waited = min(1.0, seconds["wait"] / elapsed)
    lines = [
        f"{stats.batches:,} batches, {stats.samples:,} samples in {elapsed:.2f} s ({stats.samples / elapsed:,.0f}/s)",
        f"the consumer waited {waited:.0%} of the time",
    ]
    work = {stage: seconds[stage] for stage in ("fetch", "transform", "collate")}
    total = sum(work.values()) or 1e-9
    lines.append("work: " + ", ".join(f"{stage} {value / total:.0%}" for stage, value in work.items()))
    slowest = max(work, key=lambda stage: work[stage])
    if stats.num_workers:
        lines.append(f"workers awake: {stats.workers_awake} of {stats.num_workers} ({stats.awake_reason})")
        lines.append(f"window: {stats.window.mean:.1f} batches on average, {stats.window.largest} at most")
    if waited < 0.1:
        lines.append("bottleneck: the consumer; the loader keeps up")
    elif not stats.num_workers:
        lines.append(f"bottleneck: {slowest}, on the calling thread; set num_workers")
    elif stats.workers_awake < stats.num_workers and has_gil():
        lines.append(f"bottleneck: {slowest}; workers wait for the interpreter lock: more of them do not help")
    else:
        lines.append(f"bottleneck: {slowest}; raise num_workers, or item_concurrency if it waits for input or output")
    if stats.failures:
        lines.append(f"failed samples: {stats.failures}; batches left out: {stats.left_out}")
    return "\n".join(lines)


def has_gil() -> bool:
    """Whether one thread at a time runs Python code in this process."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())
