"""What `state_dict` gives and `load_state_dict` takes: a few numbers, whatever the length of the dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from headrace.errors import StateError

__all__ = ["State"]

VERSION = 1


@dataclass(frozen=True)
class State:
    """Where a loader stands.

    Attributes:
        epoch: the epoch to run or to go on with.
        consumed: places of the global order behind all ranks; batches with `unit="batches"`.
        unit: "samples", or "batches" (a batch sampler).
        length: of the dataset; None for a stream.
        shuffle: whether the order is a permutation of `seed`.
        ahead: batches given ahead of the others (`in_order=False`), counted from `consumed`.
        layout: (batch_size, rank, world) that `ahead` belongs to.
        sampler: the sampler's own state at the beginning of the epoch.
    """

    epoch: int
    consumed: int
    unit: str
    length: int | None
    shuffle: bool
    seed: int | None
    rng_seed: int
    ahead: list[int] = field(default_factory=list)
    layout: list[int] = field(default_factory=list)
    sampler: Any = None

    def to_dict(self) -> dict[str, Any]:
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> State:
        """Reads a mapping.

        Raises:
            TypeError: no mapping.
            StateError: another version, or a field that is missing or of the wrong type.
        """
        if not isinstance(state, Mapping):
            raise TypeError(f"load_state_dict takes a mapping, not {type(state).__name__}")
        if state.get("version") != VERSION:
            raise StateError(f"the state has version {state.get('version')!r}; this headrace reads version {VERSION}")
        try:
            found = cls(**{key: value for key, value in state.items() if key != "version"})
        except TypeError as error:
            raise StateError(f"the state does not have the fields of a loader's state: {error}") from None
        for name in ("epoch", "consumed"):
            value = getattr(found, name)
            if not isinstance(value, int) or value < 0:
                raise StateError(f"the state's {name} must be an int of at least 0, not {value!r}")
        return found

    def check(self, *, unit: str, length: int | None, shuffle: bool, layout: list[int]) -> None:
        """Refuses a state of another dataset length or another order, and says what differs."""
        here = {"unit": unit, "length": length, "shuffle": shuffle}
        different = [
            f"{name} is {getattr(self, name)!r} in the state and {value!r} here"
            for name, value in here.items()
            if getattr(self, name) != value
        ]
        if self.ahead and self.layout != layout:
            different.append(
                f"batches were given out of order with (batch_size, rank, world) {self.layout}, here {layout}"
            )
        if different:
            raise StateError("the state does not fit this loader: " + "; ".join(different))
