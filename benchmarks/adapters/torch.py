"""torch's `DataLoader` with worker processes that persist over epochs, its faster setting."""

from collections.abc import Callable, Iterable
from typing import Any

REQUIRES = "torch"
WORKERS = (0, 2, 4)


class AsTensor:
    """`collate`, its array given as a tensor: that is what torch moves through shared memory, not through a pipe."""

    def __init__(self, collate: Callable[[list[Any]], Any]) -> None:
        self.collate = collate

    def __call__(self, items: list[Any]) -> Any:
        import torch

        return torch.from_numpy(self.collate(items))


def loader(dataset: Any, collate: Callable[[list[Any]], Any] | None, batch_size: int, workers: int) -> Iterable[Any]:
    """Processes when `workers` is above 0."""
    from torch.utils.data import DataLoader

    return DataLoader(
        dataset,
        batch_size=batch_size,
        num_workers=workers,
        collate_fn=list if collate is None else AsTensor(collate),
        persistent_workers=workers > 0,
    )
