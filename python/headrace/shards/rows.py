"""Samples as a sequence: the one shape that shards, views and mixtures share.

A chain such as `ds.filter(f).map(g)[10:20]` is rows over rows. Each kind says how many rows there are, gives any of
them by position, and streams them in order; whatever is built on top holds for all of these at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

__all__ = ["ConcatRows", "FilteredRows", "ListRows", "MappedRows", "Rows", "SelectedRows", "ZippedRows"]

T = TypeVar("T")
S = TypeVar("S")

AT_ONCE = 64
"""How many rows a stream takes from its parent at a time, where the parent can give several in one go."""


class Rows(ABC, Generic[T]):
    """A sequence of samples. Objects are read by any number of threads at once.

    A row that is damaged raises from `many`, unless the rows were told to leave damaged ones out: then `many`
    and `stream` give the others, each with its position.
    """

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def many(self, positions: Sequence[int]) -> list[tuple[int, T]]:
        """The rows at `positions` (each in `[0, len)`), in that order, with their positions."""

    def stream(self) -> Iterator[tuple[int, T]]:
        """All rows in order, with their positions, in bounded memory."""
        count = len(self)
        for start in range(0, count, AT_ONCE):
            yield from self.many(range(start, min(start + AT_ONCE, count)))


class ListRows(Rows[T]):
    """Any object with `__len__` and `__getitem__`, as rows."""

    def __init__(self, items: Any) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def many(self, positions: Sequence[int]) -> list[tuple[int, T]]:
        items = self.items
        return [(position, items[position]) for position in positions]


class SelectedRows(Rows[T]):
    """Rows of a parent, in the order of `positions` (a range, or an int64 array)."""

    def __init__(self, parent: Rows[T], positions: range | np.ndarray[Any, np.dtype[np.int64]]) -> None:
        self.parent = parent
        self.positions = positions

    def __len__(self) -> int:
        return len(self.positions)

    def many(self, positions: Sequence[int]) -> list[tuple[int, T]]:
        mine = self.positions
        below = [int(mine[position]) for position in positions]
        found = self.parent.many(below)
        if len(found) == len(below):
            return [(position, row) for position, (_, row) in zip(positions, found, strict=True)]
        return list(_renumbered(zip(positions, below, strict=True), found))


def _renumbered(wanted: Iterator[tuple[int, int]], found: list[tuple[int, T]]) -> Iterator[tuple[int, T]]:
    """Rows under the positions they were asked for by, where the parent left some out."""
    for at, row in found:
        for position, below in wanted:
            if below == at:
                yield position, row
                break


class MappedRows(Rows[S], Generic[T, S]):
    """`function` of each row of the parent."""

    def __init__(self, parent: Rows[T], function: Callable[[T], S]) -> None:
        self.parent = parent
        self.function = function

    def __len__(self) -> int:
        return len(self.parent)

    def many(self, positions: Sequence[int]) -> list[tuple[int, S]]:
        function = self.function
        return [(position, function(row)) for position, row in self.parent.many(positions)]

    def stream(self) -> Iterator[tuple[int, S]]:
        function = self.function
        for position, row in self.parent.stream():
            yield position, function(row)


class FilteredRows(Rows[T]):
    """The rows of the parent that `keep` is true of.

    Streaming asks as it goes. The length, and rows by position, need to know all that are kept: the first such
    question reads the parent once and remembers 8 bytes a kept row.
    """

    def __init__(self, parent: Rows[T], keep: Callable[[T], object]) -> None:
        self.parent = parent
        self.keep = keep
        self._kept: np.ndarray[Any, np.dtype[np.int64]] | None = None
        self._lock = Lock()

    @property
    def kept(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Positions in the parent of the rows that are kept, int64 of shape `(len,)`."""
        with self._lock:
            if self._kept is None:
                keep = self.keep
                kept = (position for position, row in self.parent.stream() if keep(row))
                self._kept = np.fromiter(kept, dtype=np.int64)
            return self._kept

    def __len__(self) -> int:
        return len(self.kept)

    def many(self, positions: Sequence[int]) -> list[tuple[int, T]]:
        return SelectedRows(self.parent, self.kept).many(positions)

    def stream(self) -> Iterator[tuple[int, T]]:
        keep = self.keep
        rows = (row for _, row in self.parent.stream() if keep(row))
        yield from enumerate(rows)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())


class ConcatRows(Rows[T]):
    """The rows of several parents, one after another."""

    def __init__(self, parents: Sequence[Rows[T]]) -> None:
        self.parents = list(parents)

    @property
    def _ends(self) -> list[int]:
        return list(accumulate(len(parent) for parent in self.parents))

    def __len__(self) -> int:
        return sum(len(parent) for parent in self.parents)

    def many(self, positions: Sequence[int]) -> list[tuple[int, T]]:
        ends = self._ends
        return from_parents(self.parents, [_place(position, ends) for position in positions], positions)

    def stream(self) -> Iterator[tuple[int, T]]:
        start = 0
        for parent in self.parents:
            for position, row in parent.stream():
                yield start + position, row
            start += len(parent)


def _place(position: int, ends: list[int]) -> tuple[int, int]:
    which = bisect_right(ends, position)
    return which, position - (ends[which - 1] if which else 0)


def from_parents(
    parents: Sequence[Rows[T]], places: Sequence[tuple[int, int]], positions: Sequence[int]
) -> list[tuple[int, T]]:
    """Rows from several parents, each asked once for all of its own."""
    by_parent: dict[int, list[int]] = {}
    for order, (which, _) in enumerate(places):
        by_parent.setdefault(which, []).append(order)
    found: dict[int, T] = {}
    for which, orders in by_parent.items():
        rows = parents[which].many([places[order][1] for order in orders])
        if len(rows) == len(orders):
            found.update((order, row) for order, (_, row) in zip(orders, rows, strict=True))
        else:
            wanted = ((order, places[order][1]) for order in orders)
            found.update(_renumbered(wanted, rows))
    return [(positions[order], found[order]) for order in sorted(found)]


class ZippedRows(Rows[tuple[Any, ...]]):
    """Tuples of the rows that stand at one position in every parent.

    Raises:
        ValueError: The parents differ in length.
    """

    def __init__(self, parents: Sequence[Rows[Any]]) -> None:
        lengths = [len(parent) for parent in parents]
        if len(set(lengths)) > 1:
            raise ValueError(f"zip needs datasets of one length; these have {lengths}")
        self.parents = list(parents)

    def __len__(self) -> int:
        return len(self.parents[0]) if self.parents else 0

    def many(self, positions: Sequence[int]) -> list[tuple[int, tuple[Any, ...]]]:
        order = range(len(positions))
        columns = [
            dict(_renumbered(zip(order, positions, strict=True), parent.many(positions))) for parent in self.parents
        ]
        whole = [at for at in order if all(at in column for column in columns)]
        return [(positions[at], tuple(column[at] for column in columns)) for at in whole]
