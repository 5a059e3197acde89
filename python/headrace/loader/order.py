"""The order of an epoch: which dataset indices make up batch n of this rank.

A batch is a pure function of (length, arguments, seed, epoch): nothing here depends on workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import index as as_index
from typing import Any, Protocol

from headrace.errors import SamplerError, StateError
from headrace.loader.sharding import Shard
from headrace.samplers import Permutation

__all__ = ["GroupOrder", "Order", "SampleOrder", "epoch_key", "read_batch_sampler", "read_sampler"]

MASK = (1 << 64) - 1


class Order(Protocol):
    """The batches of this rank in one epoch, from place `start` of the global order on."""

    start: int
    batches: int

    def indices(self, number: int, /) -> Sequence[int]:
        """Dataset indices of batch `number` (from 0)."""

    def selector(self) -> Callable[[int], Sequence[int]]:
        """`indices` as a function, for the one who calls it for every batch."""

    def consumed(self, batches: int) -> int:
        """Places of the global order that lie behind all ranks once each was given `batches` more."""

    def samples(self, batches: int) -> int:
        """Samples in this rank's first `batches` batches."""


class SampleOrder:
    """Batches of `batch_size` places cut from a sequence of indices.

    `sequence` is a range, a list of indices, or a `Permutation`. Place q of the padded order is place q modulo
    its length, as in torch's DistributedSampler.
    """

    def __init__(
        self,
        sequence: range | list[int] | Permutation,
        batch_size: int,
        shard: Shard,
        start: int,
        drop_last: bool,
    ) -> None:
        self.start = start
        self._sequence = sequence
        self._length = len(sequence)
        if start > self._length:
            raise StateError(f"the state stands at place {start} of an order of {self._length} items")
        self._batch_size = batch_size
        self._first = start + shard.rank
        self._step = shard.world
        self._count = shard.count(self._length - start)
        whole, rest = divmod(self._count, batch_size)
        self.batches = whole + (rest > 0 and not drop_last)
        # Batches below this number hold neither padding nor a short end.
        last_place = self._length - 1 - self._first
        inside = min(self._count, last_place // self._step + 1 if last_place >= 0 else 0)
        self._plain = inside // batch_size

    def indices(self, number: int, /) -> Sequence[int]:
        return self.selector()(number)

    def selector(self) -> Callable[[int], Sequence[int]]:
        """`indices` as a function that looks nothing up."""
        sequence, size, first, step = self._sequence, self._batch_size, self._first, self._step
        plain, stride, short = self._plain, size * step, self._short_batch
        if isinstance(sequence, Permutation):
            block = sequence.indices
            return lambda number: block(first + number * stride, size, step) if number < plain else short(number)
        if isinstance(sequence, range):  # of all items in order: a place is its index

            def select_range(number: int) -> Sequence[int]:
                start = first + number * stride
                return range(start, start + stride, step) if number < plain else short(number)

            return select_range

        def select(number: int) -> Sequence[int]:
            if number >= plain:
                return short(number)
            start = first + number * stride
            return sequence[start : start + stride : step]

        return select

    def _short_batch(self, number: int) -> list[int]:
        start = self._first + number * self._batch_size * self._step
        count = min(self._batch_size, self._count - number * self._batch_size)
        sequence, length = self._sequence, self._length
        return [sequence[place % length] for place in range(start, start + count * self._step, self._step)]

    def consumed(self, batches: int) -> int:
        return min(self._length, self.start + batches * self._batch_size * self._step)

    def samples(self, batches: int) -> int:
        return min(self._count, batches * self._batch_size)


class GroupOrder:
    """Batches as a batch sampler gave them: this rank has every world-size-th group."""

    def __init__(self, groups: list[list[int]], shard: Shard, start: int) -> None:
        if start > len(groups):
            raise StateError(f"the state stands at batch {start} of {len(groups)}")
        self.start = start
        self._groups = groups
        self._shard = shard
        self.batches = shard.count(len(groups) - start)

    def indices(self, number: int, /) -> Sequence[int]:
        return self._groups[(self.start + self._shard.rank + number * self._shard.world) % len(self._groups)]

    def selector(self) -> Callable[[int], Sequence[int]]:
        return self.indices

    def consumed(self, batches: int) -> int:
        return min(len(self._groups), self.start + batches * self._shard.world)

    def samples(self, batches: int) -> int:
        return sum(len(self.indices(number)) for number in range(batches))


def epoch_key(seed: int, epoch: int) -> int:
    """The permutation's key for an epoch: splitmix64's finaliser over seed and epoch (Steele et al., 2014)."""
    value = (seed + (epoch + 1) * 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def read_sampler(sampler: Iterable[Any]) -> list[int]:
    """Reads a sampler to its end. What it raises comes out as it is."""
    return [_index(value, "sampler", place) for place, value in enumerate(sampler)]


def read_batch_sampler(batch_sampler: Iterable[Iterable[Any]]) -> list[list[int]]:
    """Reads a batch sampler to its end; an empty group is refused."""
    groups = []
    for number, group in enumerate(batch_sampler):
        if isinstance(group, (str, bytes)) or not isinstance(group, Iterable):
            raise TypeError(f"batch_sampler gave {group!r} as batch {number}: expected a list of indices")
        indices = [_index(value, f"batch_sampler (batch {number})", place) for place, value in enumerate(group)]
        if not indices:
            raise SamplerError(f"batch_sampler gave an empty group as batch {number}")
        groups.append(indices)
    return groups


def _index(value: Any, source: str, place: int) -> int:
    try:
        number = as_index(value)
    except TypeError:
        raise TypeError(
            f"{source} gave {value!r} ({type(value).__name__}) at place {place}: expected an int index"
        ) from None
    if number < 0:
        raise SamplerError(f"{source} gave {number} at place {place}: expected an index of at least 0")
    return number
