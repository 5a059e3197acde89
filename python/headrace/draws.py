"""Which item is being made just now, and the random generator that belongs to it.

Nothing is written per item: a batch is made by a comprehension over an iterator of its indices, and
`operator.length_hint` of that iterator tells how far it has come.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from operator import length_hint

import numpy as np

__all__ = ["Awaited", "Draws", "Items", "awaited", "here", "index_in", "sample_rng"]

MASK = (1 << 64) - 1


class Draws:
    """The key of an epoch's random draws: `(seed, epoch)`."""

    __slots__ = ("epoch", "seed")

    def __init__(self, seed: int, epoch: int) -> None:
        self.seed = seed
        self.epoch = epoch

    def generator(self, index: int) -> np.random.Generator:
        """The generator of item `index`: Philox4x64 keyed by (seed, epoch), its counter's top word the index.

        Each item owns 2**192 draws of one keyed stream, so that no two items share any.
        """
        key = np.array([self.seed & MASK, self.epoch & MASK], dtype=np.uint64)
        counter = np.array([0, 0, 0, index & MASK], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=key, counter=counter))


Items = tuple[Draws, Sequence[int], Iterator[int]]
"""The items of a batch while they are made: the epoch's draws, the indices, and the iterator that runs over them."""


def index_in(items: Items) -> int | None:
    """Dataset index of the item in the making, None before the first."""
    _, indices, cursor = items
    position = len(indices) - length_hint(cursor) - 1
    return indices[position] if position >= 0 else None


OUTSIDE = "sample_rng() works while an item is made: inside __getitem__ or transform of a DataLoader"


class Here(threading.local):
    """What this thread is making: `items` is None outside a batch, `worker` None on the calling thread."""

    items: Items | None = None
    worker: int | None = None
    drawn: tuple[Items, int, np.random.Generator] | None = None


here = Here()


class Awaited:
    """An item that a coroutine makes. Coroutines interleave on one thread, so each task has its own in its context."""

    __slots__ = ("draws", "generator", "index")

    def __init__(self, draws: Draws, index: int) -> None:
        self.draws = draws
        self.index = index
        self.generator: np.random.Generator | None = None


awaited: ContextVar[Awaited | None] = ContextVar("headrace.awaited", default=None)


def sample_rng() -> np.random.Generator:
    """The random generator of the item in the making, keyed by (seed, epoch, index).

    The draws are the same whatever worker makes the item, and no two items share any. Called again for the
    same item it gives the same generator, which goes on.

    Raises:
        RuntimeError: outside `__getitem__` and `transform`.
    """
    items = here.items
    if items is None:
        item = awaited.get()
        if item is None:
            raise RuntimeError(OUTSIDE)
        if item.generator is None:
            item.generator = item.draws.generator(item.index)
        return item.generator
    draws, indices, cursor = items
    position = len(indices) - length_hint(cursor) - 1
    if position < 0:
        raise RuntimeError(OUTSIDE)
    drawn = here.drawn
    if drawn is not None and drawn[0] is items and drawn[1] == position:
        return drawn[2]
    generator = draws.generator(indices[position])
    here.drawn = (items, position, generator)
    return generator
