"""Trivial items, so that what is measured is the loader itself."""

from pathlib import Path

EPOCHS = 6
"""Epochs a process; the first is cold and counts for the first batch alone."""

collate = None
"""A batch is the list of its items."""


class Numbers:
    """100,000 items; item `i` is `i`."""

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> int:
        return index


def prepare(folder: Path) -> None:
    """Nothing to write."""


def dataset(folder: Path) -> Numbers:
    """The dataset; `folder` is not used."""
    return Numbers()
