"""Datasets that are read from start to end: one reader numbers the items and cuts them into batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from headrace.loader.sharding import Shard

__all__ = ["StreamReader"]


class StreamReader:
    """Reads this rank's items of a stream, batch by batch. One thread at a time.

    Rank r of w has every w-th item from r on. A last group of fewer than w items is dropped (`even="drop"`) or
    filled up with items from the stream's start (`"pad"`). `start` items of the stream are read and passed over.
    """

    def __init__(self, dataset: Iterable[Any], batch_size: int, shard: Shard, start: int, drop_last: bool) -> None:
        self.start = start
        self._batch_size = batch_size
        self._drop_last = drop_last
        self._shard = shard
        self._items = self._share(iter(dataset))

    def read(self) -> tuple[list[int], list[Any]] | None:
        """Numbers and items of the next batch; None at the end."""
        pairs = list(islice(self._items, self._batch_size))
        if not pairs or (self._drop_last and len(pairs) < self._batch_size):
            return None
        return [number for number, _ in pairs], [item for _, item in pairs]

    def consumed(self, batches: int) -> int:
        return self.start + batches * self._batch_size * self._shard.world

    def samples(self, batches: int) -> int:
        return batches * self._batch_size

    def _share(self, stream: Iterator[Any]) -> Iterator[tuple[int, Any]]:
        numbered = enumerate(stream)
        rank, world = self._shard.rank, self._shard.world
        if world == 1:
            yield from islice(numbered, self.start, None)
            return
        head = list(islice(numbered, min(self.start, world - 1)))
        for _ in islice(numbered, self.start - len(head)):
            pass
        while True:
            group = list(islice(numbered, world))
            if len(head) < world - 1:
                head.extend(group[: world - 1 - len(head)])
            if len(group) == world:
                yield group[rank]
                continue
            if group and self._shard.pad:
                yield group[rank] if rank < len(group) else head[(rank - len(group)) % len(head)]
            return
