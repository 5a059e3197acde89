"""Samples that could not be made, and what the error policy does about them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Failure", "FailureLog", "OnError"]

OnError = str | Callable[["Failure"], Any]
KEPT = 10_000


@dataclass(frozen=True)
class Failure:
    """A sample that failed: its dataset index, the epoch, and the exception that was raised."""

    index: int
    epoch: int
    exception: Exception


class FailureLog:
    """The failures of a loader over its epochs: the first 10,000, and a count of all. Safe on any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.entries: list[Failure] = []
        self.count = 0

    def add(self, failure: Failure) -> None:
        with self._lock:
            self.count += 1
            if len(self.entries) < KEPT:
                self.entries.append(failure)
