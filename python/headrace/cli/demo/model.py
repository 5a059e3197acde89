"""The classifier: one hidden layer in NumPy, trained by Adam; every number of it can be saved and loaded."""

import hashlib
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from headrace.cli.demo.digits import SIDE, Batch, Pixels

HIDDEN = 128
CLASSES = 10
LEARNING_RATE, HALVED_AFTER = 0.02, 100  # the rate falls as 1 / (1 + steps / HALVED_AFTER)
MEAN_PIXEL = 0.3
MEAN_DECAY, SQUARE_DECAY, EPSILON = 0.9, 0.999, 1e-8  # Adam's (Kingma and Ba, 2015)

Array = npt.NDArray[np.float64]


class Model:
    """64 pixels, 128 rectified units, 10 logits, in float64; the same batches give the same weights, bit for bit."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        inputs = SIDE * SIDE
        self.weights: dict[str, Array] = {
            "hidden": rng.standard_normal((inputs, HIDDEN)) * np.sqrt(2 / inputs),
            "hidden_bias": np.zeros(HIDDEN),
            "output": rng.standard_normal((HIDDEN, CLASSES)) * np.sqrt(1 / HIDDEN),
            "output_bias": np.zeros(CLASSES),
        }
        self._mean = {name: np.zeros_like(weight) for name, weight in self.weights.items()}
        self._square = {name: np.zeros_like(weight) for name, weight in self.weights.items()}
        self._steps = 0

    def step(self, batch: Batch) -> None:
        """One step of Adam on the batch's mean cross-entropy."""
        pixels = batch.pixels.astype(np.float64) - MEAN_PIXEL
        hidden, logits = self._forward(pixels)
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        chances[np.arange(len(chances)), batch.labels] -= 1
        slope = chances / len(chances)
        back = (slope @ self.weights["output"].T) * (hidden > 0)
        self._descend(
            {
                "hidden": pixels.T @ back,
                "hidden_bias": back.sum(axis=0),
                "output": hidden.T @ slope,
                "output_bias": slope.sum(axis=0),
            }
        )

    def predict(self, pixels: Pixels) -> npt.NDArray[np.int64]:
        """The digit that each row of `(N, 64)` pixels shows most likely."""
        _, logits = self._forward(pixels.astype(np.float64) - MEAN_PIXEL)
        found: npt.NDArray[np.int64] = logits.argmax(axis=1).astype(np.int64)
        return found

    def digest(self) -> str:
        """SHA-256 over all weights: equal when two runs came to the same model."""
        digest = hashlib.sha256()
        for name in sorted(self.weights):
            digest.update(self.weights[name].tobytes())
        return digest.hexdigest()

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Weights and Adam's state by name, for `load`."""
        found: dict[str, npt.NDArray[np.generic]] = {"steps": np.array(self._steps)}
        for group, values in self._groups().items():
            found.update({f"{group}.{name}": value for name, value in values.items()})
        return found

    def load(self, arrays: Mapping[str, npt.NDArray[np.generic]]) -> None:
        """Takes over what `arrays` gave.

        Raises:
            ValueError: an array is missing or has another shape.
        """
        for group, values in self._groups().items():
            for name, value in values.items():
                found = arrays.get(f"{group}.{name}")
                if found is None or found.shape != value.shape:
                    shape = None if found is None else found.shape
                    raise ValueError(f"expected {group}.{name} of shape {value.shape}, found {shape}")
                values[name] = found.astype(np.float64)
        self._steps = int(arrays["steps"].item())

    def _groups(self) -> dict[str, dict[str, Array]]:
        return {"weights": self.weights, "mean": self._mean, "square": self._square}

    def _forward(self, pixels: Array) -> tuple[Array, Array]:
        hidden = np.maximum(pixels @ self.weights["hidden"] + self.weights["hidden_bias"], 0)
        return hidden, hidden @ self.weights["output"] + self.weights["output_bias"]

    def _descend(self, slopes: Mapping[str, Array]) -> None:
        self._steps += 1
        rate = LEARNING_RATE / (1 + self._steps / HALVED_AFTER)
        rate *= np.sqrt(1 - SQUARE_DECAY**self._steps) / (1 - MEAN_DECAY**self._steps)
        for name, slope in slopes.items():
            mean = self._mean[name] = MEAN_DECAY * self._mean[name] + (1 - MEAN_DECAY) * slope
            square = self._square[name] = SQUARE_DECAY * self._square[name] + (1 - SQUARE_DECAY) * slope**2
            self.weights[name] = self.weights[name] - rate * mean / (np.sqrt(square) + EPSILON)
