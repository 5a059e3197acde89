"""headrace, as a user calls it: `DataLoader` with nothing tuned."""

from collections.abc import Callable, Iterable
from typing import Any

REQUIRES = "headrace"
WORKERS = (0, 2, 4)


def loader(dataset: Any, collate: Callable[[list[Any]], Any] | None, batch_size: int, workers: int) -> Iterable[Any]:
    """Threads when `workers` is above 0."""
    from headrace import DataLoader

    return DataLoader(dataset, batch_size=batch_size, num_workers=workers, collate_fn=collate)
