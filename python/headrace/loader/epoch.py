"""The work of one epoch, as an executor takes it, and the counts that it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.draws import Draws
from headrace.loader.arrivals import ArrivalRunner
from headrace.loader.batching import Batcher
from headrace.loader.direct import direct
from headrace.loader.executors import Job
from headrace.loader.iterator import Progress
from headrace.loader.stream import StreamReader

__all__ = ["add_counts", "begin_epoch"]


def begin_epoch(batcher: Batcher, draws: Draws, progress: Progress) -> Job:
    """The work of an epoch. Holds neither loader nor iterator, so that workers keep neither alive."""
    window, source = progress.window, progress.source
    if isinstance(source, StreamReader):

        def run_items(number: int, indices: list[int], samples: list[Any]) -> Any:
            return batcher.transform_stream(number, indices, samples, draws)

        return Job(window, None, source, run_items)
    select = source.selector()
    if progress.passed or progress.restarted_at:
        # A copy of the numbering: the progress itself belongs to the consumer.
        numbering = Progress(progress.epoch, source, window, progress.passed)
        numbering.restarted_at = progress.restarted_at

        def select(claimed: int) -> Sequence[int]:
            return source.indices(numbering.number(claimed))

    run = batcher.runner(select, draws, progress.flights)
    if isinstance(run, ArrivalRunner):
        return Job(window, run, claim=run.claims(window))
    return Job(window, run, direct=direct(window, batcher, select, draws, run) if batcher.direct else None)


def add_counts(total: dict[str, float], progress: Progress) -> None:
    """Adds an epoch's counts to a loader's totals."""
    counts = progress.window.statistics()
    for name in ("taken", "wait_s", "idle_s", "occupancy", "skipped"):
        total[name] += counts[name]
    total["largest"] = max(total["largest"], counts["largest"])
    total["samples"] += progress.source.samples(int(counts["taken"] + counts["skipped"]))
