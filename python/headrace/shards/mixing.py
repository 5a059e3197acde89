"""Several datasets as one, drawn from in fixed proportions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from headrace.samplers import Permutation
from headrace.shards.rows import Rows, from_parents

__all__ = ["MixedRows", "counts_of"]

T = TypeVar("T")

WINDOW = 1024
"""About how many rows are shuffled among each other."""


def counts_of(lengths: Sequence[int], weights: Sequence[float] | None) -> list[int]:
    """How many rows each dataset gives.

    Without weights all of them, once. With weights as many as keep the proportions until the first dataset
    would run out.
    """
    if weights is None:
        return list(lengths)
    if len(weights) != len(lengths):
        raise ValueError(f"weights has {len(weights)} values for {len(lengths)} datasets; give one for each")
    if any(not weight >= 0 or weight == float("inf") for weight in weights) or not sum(weights) > 0:
        raise ValueError(f"weights must be finite, not negative, and not all 0; got {list(weights)}")
    total = min(length / weight for length, weight in zip(lengths, weights, strict=True) if weight > 0)
    return [
        min(length, int(total * weight + 1e-9)) if weight > 0 else 0
        for length, weight in zip(lengths, weights, strict=True)
    ]


class MixedRows(Rows[T]):
    """Rows of several parents, interleaved evenly and in an order that `seed` fixes; none comes twice.

    The epoch is cut into windows. Before window w, a parent that gives n rows has given `w * n // windows` of them:
    that is exact, never falls, and is known without counting. Within a window the parents take turns at random.
    Any row is found in O(parents * log windows), and nothing is kept for each row.
    """

    def __init__(self, parents: Sequence[Rows[T]], weights: Sequence[float] | None, seed: int) -> None:
        if not parents:
            raise ValueError("mix needs at least one dataset")
        self.parents = list(parents)
        self.counts = counts_of([len(parent) for parent in parents], weights)
        self.seed = seed
        self.windows = max(1, -(-sum(self.counts) // WINDOW))
        self._window = lru_cache(maxsize=16)(self._arrange)

    def __len__(self) -> int:
        return sum(self.counts)

    def _given(self, window: int) -> list[int]:
        return [window * count // self.windows for count in self.counts]

    def _arrange(self, window: int) -> tuple[int, list[tuple[int, int]]]:
        """The first position of a window, and the (parent, row) of each of its positions."""
        before, after = self._given(window), self._given(window + 1)
        taken = [
            (which, row)
            for which, (start, stop) in enumerate(zip(before, after, strict=True))
            for row in range(start, stop)
        ]
        turns = [taken[at][0] for at in Permutation(len(taken), _key(self.seed, window)).indices(0, len(taken))]
        following = list(before)
        places = []
        for which in turns:
            places.append((which, following[which]))
            following[which] += 1
        return sum(before), places

    def place(self, position: int) -> tuple[int, int]:
        """Which parent a position comes from, and its row there."""
        low, high = 0, self.windows
        while high - low > 1:
            middle = (low + high) // 2
            if sum(self._given(middle)) <= position:
                low = middle
            else:
                high = middle
        start, places = self._window(low)
        return places[position - start]

    def many(self, positions: Sequence[int]) -> list[tuple[int, T]]:
        return from_parents(self.parents, [self.place(position) for position in positions], positions)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.parents, self.counts, self.seed)


def _rebuild(parents: list[Rows[T]], counts: list[int], seed: int) -> MixedRows[T]:
    mixed = MixedRows(parents, None, seed)
    mixed.counts = counts
    mixed.windows = max(1, -(-sum(counts) // WINDOW))
    return mixed


def _key(seed: int, window: int) -> int:
    return int(np.random.SeedSequence([seed & ((1 << 64) - 1), window]).generate_state(1, np.uint64)[0])
