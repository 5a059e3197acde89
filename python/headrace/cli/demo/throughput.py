"""How many images a second each way of loading gives: a plain loop, headrace and, where it is installed, torch."""

import contextlib
import importlib.util
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from headrace import DataLoader, Permutation
from headrace.cli.demo.digits import Batch, Digit, DigitFiles, augment, collate, distort
from headrace.cli.demo.train import BATCH_SIZE

REPETITIONS = 5


class Distorted:
    """The digits with their augmentation inside `__getitem__`, as loaders without `sample_rng` have it.

    Each digit has a generator of its own here too: without one, the pictures would depend on who loads what when.
    """

    def __init__(self, files: DigitFiles) -> None:
        self._files = files

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> Digit:
        return distort(self._files[index], np.random.Generator(np.random.Philox(key=index)))


def measure(files: DigitFiles, workers: int) -> dict[str, float]:
    """Images a second by name, medians of interleaved epochs; each way reads, decodes, augments and stacks the same.

    Workers are started and the first epoch is loaded before the clock runs.
    """
    with contextlib.ExitStack() as stack:
        ways: dict[str, Callable[[], Iterable[Batch]]] = {"plain loop": lambda: _plain(Distorted(files))}
        if importlib.util.find_spec("torch") is not None:
            # First of all loaders: its worker processes are forked while no thread of ours runs.
            torch_loader = _torch(files, workers)
            _drain(torch_loader)
            ways["torch"] = lambda: torch_loader
        loader: DataLoader[Batch] = DataLoader(
            files,
            batch_size=BATCH_SIZE,
            shuffle=True,
            seed=0,
            num_workers=workers,
            collate_fn=collate,
            transform=augment,
        )
        stack.enter_context(loader)
        ways["headrace"] = lambda: loader
        _drain(loader)
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(REPETITIONS):
            for name, way in ways.items():
                start = time.perf_counter()
                _drain(way())
                seconds[name].append(time.perf_counter() - start)
    return {name: len(files) / statistics.median(taken) for name, taken in seconds.items()}


def _plain(dataset: Distorted) -> Iterator[Batch]:
    order = Permutation(len(dataset), 0)
    for start in range(0, len(dataset), BATCH_SIZE):
        indices = order.indices(start, min(BATCH_SIZE, len(dataset) - start))
        yield collate([dataset[index] for index in indices])


def _torch(files: DigitFiles, workers: int) -> Iterable[Batch]:
    import torch.utils.data

    loader: Iterable[Batch] = torch.utils.data.DataLoader(
        Distorted(files),
        batch_size=BATCH_SIZE,
        shuffle=True,
        num_workers=workers,
        collate_fn=collate,
        persistent_workers=workers > 0,
    )
    return loader


def _drain(batches: Iterable[Batch]) -> None:
    with warnings.catch_warnings():
        # torch forks its workers; Python warns of that in any process that has threads, such as NumPy's own.
        warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
        for _ in batches:
            pass
