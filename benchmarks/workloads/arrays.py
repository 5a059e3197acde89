"""Small arrays from files: short spells of work that take and release the interpreter's lock often."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

EPOCHS = 3
"""Epochs a process; the first is cold and counts for the first batch alone."""

COUNT = 5_000
SHAPE = (3, 64, 64)
MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32).reshape(3, 1, 1)
DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32).reshape(3, 1, 1)


class ArrayFiles:
    """`(3, 64, 64)` float32 arrays from `.npy` files, mirrored left to right and normalised."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = list(paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> np.ndarray:
        picture = np.load(self.paths[index])
        return (picture[:, :, ::-1] - MEAN) / DEVIATION


def path(folder: Path, index: int) -> Path:
    """Where item `index` lies in `folder`."""
    return folder / f"{index:05d}.npy"


def prepare(folder: Path) -> None:
    """Writes the 5,000 files, 48 KiB each; the same bytes every time."""
    for index in range(COUNT):
        np.save(path(folder, index), np.random.default_rng(index).random(SHAPE, dtype=np.float32))


def dataset(folder: Path) -> ArrayFiles:
    """The dataset over the files that `prepare` wrote to `folder`."""
    return ArrayFiles([str(path(folder, index)) for index in range(COUNT)])


def collate(items: Sequence[np.ndarray]) -> np.ndarray:
    """A batch: `(N, 3, 64, 64)` float32, a new array."""
    return np.stack(items)
