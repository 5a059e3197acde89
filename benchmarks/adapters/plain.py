"""No loader: a list comprehension over the same indices. The floor of what a batch can cost."""

from collections.abc import Callable, Iterator
from typing import Any

REQUIRES = None
WORKERS = (0,)


class Plain:
    """Batches of `dataset` in order, on the calling thread."""

    def __init__(self, dataset: Any, collate: Callable[[list[Any]], Any] | None, batch_size: int) -> None:
        self.dataset = dataset
        self.collate = collate
        self.batch_size = batch_size

    def __iter__(self) -> Iterator[Any]:
        ds, collate, size = self.dataset, self.collate, self.batch_size
        length = len(ds)
        for a in range(0, length, size):
            b = min(a + size, length)
            items = [ds[i] for i in range(a, b)]
            yield items if collate is None else collate(items)


def loader(dataset: Any, collate: Callable[[list[Any]], Any] | None, batch_size: int, workers: int) -> Plain:
    """`workers` is always 0."""
    return Plain(dataset, collate, batch_size)
