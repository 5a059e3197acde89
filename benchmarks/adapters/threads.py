"""The standard library's thread pool, two batches a worker in flight: what one would write by hand."""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

REQUIRES = None
WORKERS = (2, 4)


class Threads:
    """Batches of `dataset` in order, each made whole by one thread of a pool."""

    def __init__(self, dataset: Any, collate: Callable[[list[Any]], Any] | None, batch_size: int, workers: int) -> None:
        self.dataset = dataset
        self.collate = collate
        self.batch_size = batch_size
        self.depth = 2 * workers
        self.pool = ThreadPoolExecutor(workers)

    def batch(self, start: int) -> Any:
        """The batch that begins with item `start`."""
        ds = self.dataset
        items = [ds[i] for i in range(start, min(start + self.batch_size, len(ds)))]
        return items if self.collate is None else self.collate(items)

    def __iter__(self) -> Iterator[Any]:
        waiting: deque[Future[Any]] = deque()
        for start in range(0, len(self.dataset), self.batch_size):
            waiting.append(self.pool.submit(self.batch, start))
            if len(waiting) == self.depth:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def loader(dataset: Any, collate: Callable[[list[Any]], Any] | None, batch_size: int, workers: int) -> Threads:
    """A pool of `workers` threads."""
    return Threads(dataset, collate, batch_size, workers)
