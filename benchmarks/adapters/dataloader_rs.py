"""dataloader-rs: threads driven from Rust. Its datasets derive from its own base class."""

from collections.abc import Callable, Iterable
from typing import Any

REQUIRES = "dataloader-rs"
WORKERS = (0, 2, 4)


def loader(dataset: Any, collate: Callable[[list[Any]], Any] | None, batch_size: int, workers: int) -> Iterable[Any]:
    """The dataset's own class is given a second base, so that no call is added to its `__getitem__`."""
    from dataloader_rs import PyDataloader, PyDataset

    class Adopted(type(dataset), PyDataset):
        def __init__(self) -> None:
            super(type(dataset), self).__init__()
            for name, value in vars(dataset).items():
                setattr(self, name, value)

    return PyDataloader(Adopted(), batch_size=batch_size, num_workers=workers, collate_fn=collate)
