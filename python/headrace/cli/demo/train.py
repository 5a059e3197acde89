"""The training loop: batches from the loader, accuracy by epoch, checkpoints that a later run goes on from."""

import enum
import json
import signal
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from headrace import DataLoader
from headrace.cli.demo.atomic import write_whole
from headrace.cli.demo.digits import Batch, DigitFiles, augment, collate
from headrace.cli.demo.model import Model

BATCH_SIZE = 32
CHECKPOINT_EVERY = 20  # batches


class Ending(enum.Enum):
    """Why `Trainer.train` came back."""

    FINISHED = "finished"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"


class Trainer:
    """A model, the loader that feeds it, and the checkpoint that holds both at one moment.

    A checkpoint is written only between two steps: the model has then seen exactly the batches that the loader's
    state counts as given. So a resumed run makes the same steps as one that was never stopped, bit for bit.
    """

    def __init__(self, training: DigitFiles, test: DigitFiles, *, workers: int, checkpoint: Path) -> None:
        self.model = Model()
        self.history: list[float] = []
        self.batches = 0
        self.loader: DataLoader[Batch] = DataLoader(
            training,
            batch_size=BATCH_SIZE,
            shuffle=True,
            seed=0,
            num_workers=workers,
            collate_fn=collate,
            transform=augment,
        )
        self._checkpoint = checkpoint
        with DataLoader(test, batch_size=len(test), num_workers=workers, collate_fn=collate) as loader:
            (self._test,) = list(loader)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.loader.close()

    def train(
        self,
        epochs: int,
        *,
        stop_after: int | None = None,
        on_epoch: Callable[[int, float], None] = lambda epoch, accuracy: None,
    ) -> Ending:
        """Trains until `epochs` epochs are done in all, those before a resume counted.

        Args:
            epochs: epochs in all.
            stop_after: batches of this call after which to save a checkpoint and stop.
            on_epoch: called with the epoch's number, from 0, and its test accuracy.
        """
        last = None if stop_after is None else self.batches + stop_after
        with _StopRequest() as request:
            self.save()
            while len(self.history) < epochs:
                ending = self._train_epoch(last, request)
                if ending is not None:
                    return ending
                self.history.append(self.accuracy())
                self.save()
                on_epoch(len(self.history) - 1, self.history[-1])
                if len(self.history) < epochs and (ending := self._ending(last, request)) is not None:
                    return ending
        return Ending.FINISHED

    def accuracy(self) -> float:
        """The share of test digits that the model names rightly."""
        return float(np.mean(self.predict_test() == self._test.labels))

    def predict_test(self) -> npt.NDArray[np.int64]:
        """What the model takes each test digit for, in the test files' order."""
        return self.model.predict(self._test.pixels)

    def save(self) -> None:
        """Writes the checkpoint, in one step."""
        arrays: dict[str, Any] = {
            **self.model.arrays(),
            "history": np.array(self.history, dtype=np.float64),
            "batches": np.array(self.batches),
            "loader": np.array(json.dumps(self.loader.state_dict())),
        }
        write_whole(self._checkpoint, lambda file: np.savez(file, **arrays))

    def resume(self) -> bool:
        """Goes back to the checkpoint.

        Returns:
            Whether there is one.

        Raises:
            ValueError: the file is not a checkpoint of this demo, or the loader refuses its state.
        """
        if not self._checkpoint.exists():
            return False
        try:
            with self._checkpoint.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            self.model.load(arrays)
            self.loader.load_state_dict(json.loads(arrays["loader"].item()))
            self.history = [float(accuracy) for accuracy in arrays["history"]]
            self.batches = int(arrays["batches"].item())
        except (ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{self._checkpoint} cannot be resumed: {error}; run without --resume") from error
        return True

    def _train_epoch(self, last: int | None, request: "_StopRequest") -> Ending | None:
        """Trains on what is left of the loader's epoch; None when it is done."""
        for batch in self.loader:
            self.model.step(batch)
            self.batches += 1
            if self.batches % len(self.loader) == 0:
                continue  # The epoch's end is saved with its accuracy, by `train`.
            ending = self._ending(last, request)
            if ending is not None or self.batches % CHECKPOINT_EVERY == 0:
                self.save()
            if ending is not None:
                return ending
        return None

    def _ending(self, last: int | None, request: "_StopRequest") -> Ending | None:
        if request.made:
            return Ending.INTERRUPTED
        return Ending.STOPPED if last is not None and self.batches >= last else None


class _StopRequest:
    """Turns the first Ctrl-C into a request that the loop sees between two steps; a second one interrupts at once."""

    def __init__(self) -> None:
        self.made = False
        self._before: Any = None
        self._on_main = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        if self._on_main:  # Python lets no other thread set a handler.
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._on_main:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.made:
            raise KeyboardInterrupt
        self.made = True
