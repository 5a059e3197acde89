"""The bars that headrace is held to, and how each is read from the medians.

A bar compares two configurations of one interpreter on one figure, or sets one figure against a constant. A ratio of
two peers on a shared machine is not a finding within some 30% of its bar: measure again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Key = tuple[str, str, str, int]
"""Figure, interpreter's tag, peer, workers."""


@dataclass(frozen=True)
class Bar:
    """`of` over `to` is at most, or at least, `limit`; with `to=None`, the figure of `of` itself is.

    `only` restricts the bar to interpreters with ("gil") or without ("free") the lock.
    """

    text: str
    figure: str
    of: tuple[str, int]
    to: tuple[str, int] | None
    sign: str
    limit: float
    only: str = ""

    def value(self, medians: Mapping[Key, float], tag: str) -> float | None:
        """The ratio (or figure) on one interpreter; None where a configuration was not run."""
        of = medians.get((self.figure, tag, *self.of))
        if of is None or self.to is None:
            return of
        to = medians.get((self.figure, tag, *self.to))
        return None if to is None else of / to

    def holds(self, value: float) -> bool:
        """Whether `value` is on the right side of the limit."""
        return value <= self.limit if self.sign == "≤" else value >= self.limit


def overhead() -> Iterator[Bar]:
    """Bars of the workload of that name."""
    batch = "µs a batch"
    yield Bar("headrace / plain, 0 workers", batch, ("headrace", 0), ("plain", 0), "≤", 1.5)
    for workers, limit in ((0, 1.0), (2, 1.25), (4, 1.25)):
        text = f"headrace / dataloader-rs, {workers} workers"
        yield Bar(text, batch, ("headrace", workers), ("dataloader_rs", workers), "≤", limit)
    for workers in (2, 4):
        yield Bar(f"torch / headrace, {workers} workers", batch, ("torch", workers), ("headrace", workers), "≥", 10)
    yield Bar("headrace's first batch in ms, 4 workers", "first batch, ms", ("headrace", 4), None, "≤", 5)


def arrays() -> Iterator[Bar]:
    """Bars of the workload of that name."""
    speed = "samples/s"
    for workers in (2, 4):
        text = f"headrace, {workers} workers / 0 workers"
        yield Bar(text, speed, ("headrace", workers), ("headrace", 0), "≥", 0.9)
    for workers in (2, 4):
        text = f"headrace / torch, {workers} workers"
        yield Bar(text, speed, ("headrace", workers), ("torch", workers), "≥", 0.9, "gil")
    yield Bar("headrace, 2 workers / 0 workers, no GIL", speed, ("headrace", 2), ("headrace", 0), "≥", 1.6, "free")


BARS = {"overhead": tuple(overhead()), "arrays": tuple(arrays())}
