"""One file a peer: how it is asked for batches of a dataset.

Each has `REQUIRES` (the distribution to be installed, or None), `WORKERS` (the worker counts that mean something
for it), and `loader(dataset, collate, batch_size, workers)`, which imports the peer and returns an object that is
iterated once an epoch. `collate=None` asks for lists. What is not said here is left at the peer's default.
"""

from importlib import import_module
from types import ModuleType

NAMES = ("plain", "headrace", "dataloader_rs", "torch", "threads")
"""Every peer, in the order of the tables."""


def load(name: str) -> ModuleType:
    """The adapter called `name`."""
    return import_module(f"{__name__}.{name}")
