"""The data: scikit-learn's 1,797 handwritten digits as PNG files, read back one by one, augmented and stacked."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from headrace import sample_rng

SIDE = 8  # pixels
TEST_EVERY = 5  # every fifth digit is a test digit
STEPS = (-1, 0, 0, 0, 0, 0, 0, 1)  # a digit fills its 8 pixels: most shifts would cut it
NOISE = 0.04  # standard deviation, of pixels in [0, 1]

Pixels = npt.NDArray[np.float32]


class Digit(NamedTuple):
    """One digit: `(8, 8)` float32 pixels in [0, 1], and what it shows."""

    pixels: Pixels
    label: int


class Batch(NamedTuple):
    """Digits side by side: `(N, 64)` float32 pixels and `(N,)` int64 labels."""

    pixels: Pixels
    labels: npt.NDArray[np.int64]


class DigitFiles:
    """A dataset of PNG files named `{label}_{number}.png`; Pillow decodes in `__getitem__`, on the worker."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = list(paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> Digit:
        path = self.paths[index]
        with Image.open(path) as image:
            pixels = np.asarray(image, dtype=np.float32) / np.float32(255)
        return Digit(pixels, int(path.name.partition("_")[0]))


def write_digits(folder: Path) -> list[Path]:
    """Writes every digit as an 8x8 gray PNG file, over those that are there.

    Returns:
        The paths, in scikit-learn's order.
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, (values, label) in enumerate(zip(bunch.images, bunch.target, strict=True)):
        # The values are whole numbers from 0 to 16.
        gray = np.rint(values * (255 / 16)).astype(np.uint8)
        path = folder / f"{int(label)}_{number}.png"
        Image.fromarray(gray).save(path)
        paths.append(path)
    return paths


def split(paths: Sequence[Path]) -> tuple[DigitFiles, DigitFiles]:
    """Splits the files into training and test digits: every fifth, from the first on, is a test digit."""
    test = list(paths[::TEST_EVERY])
    training = [path for number, path in enumerate(paths) if number % TEST_EVERY]
    return DigitFiles(training), DigitFiles(test)


def augment(digit: Digit) -> Digit:
    """`distort` with the item's own generator: the same picture in whatever worker and after any resume."""
    return distort(digit, sample_rng())


def distort(digit: Digit, rng: np.random.Generator) -> Digit:
    """Shifts a digit by -1, 0 or 1 pixel each way and adds a little noise; a new array."""
    down, right = (STEPS[draw] for draw in rng.integers(len(STEPS), size=2))
    padded = np.zeros((SIDE + 2, SIDE + 2), dtype=np.float32)
    padded[1 + down : 1 + down + SIDE, 1 + right : 1 + right + SIDE] = digit.pixels
    shifted = padded[1:-1, 1:-1]
    noise = rng.standard_normal((SIDE, SIDE), dtype=np.float32) * np.float32(NOISE)
    return Digit(np.clip(shifted + noise, 0, 1, dtype=np.float32), digit.label)


def collate(digits: Sequence[Digit]) -> Batch:
    """Stacks digits into one batch of flat rows."""
    pixels = np.stack([digit.pixels for digit in digits]).reshape(len(digits), SIDE * SIDE)
    return Batch(pixels, np.array([digit.label for digit in digits], dtype=np.int64))
