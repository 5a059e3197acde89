"""Checks of the arguments that sources share."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["MAX_BYTES", "Retry", "headers_of", "listed", "refuse_cache", "seconds", "size", "verify_of"]

MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Retry:
    """How often an item is tried, and how long."""

    retries: int
    backoff: float
    max_backoff: float
    timeout: float | None
    deadline: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.retries, bool) or not isinstance(self.retries, int):
            raise TypeError(f"retries must be an int, found {self.retries!r}")
        if not 0 <= self.retries < 2**32:
            raise ValueError(f"retries must be at least 0, found {self.retries}")
        seconds("backoff", self.backoff, zero=True)
        seconds("max_backoff", self.max_backoff, zero=True)
        for name in ("timeout", "deadline"):
            if (value := getattr(self, name)) is not None:
                seconds(name, value)

    def as_native(self) -> dict[str, float | None]:
        return {
            "retries": self.retries,
            "backoff": self.backoff,
            "max_backoff": self.max_backoff,
            "timeout": self.timeout,
            "deadline": self.deadline,
        }


def seconds(name: str, value: object, *, zero: bool = False) -> None:
    """Raises unless `value` is a number of seconds, above 0 (or 0 too)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number of seconds, found {value!r}")
    if math.isnan(value) or value < 0 or (value == 0 and not zero):
        raise ValueError(f"{name} must be {'at least' if zero else 'above'} 0 seconds, found {value}")


def size(name: str, value: object) -> int:
    """`value`, a number of bytes."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, in bytes, found {value!r}")
    if not 1 <= value < 2**63:
        raise ValueError(f"{name} must be at least 1 byte and below 2**63, found {value}")
    return value


def listed(name: str, values: Iterable[object]) -> list[object]:
    """`values` as a list; a single text is the mistake that it looks like."""
    if isinstance(values, str | bytes | os.PathLike):
        raise TypeError(f"{name} must be a sequence, found the single value {type(values).__name__}; write [value]")
    return list(values)


def headers_of(headers: Mapping[str, str] | None) -> list[tuple[str, str]]:
    """Names and values; the values appear in no message."""
    pairs = [] if headers is None else list(headers.items())
    for name, value in pairs:
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"headers must map str to str, found {name!r} of {type(value).__name__}")
    return pairs


def verify_of(verify: bool | str | os.PathLike[str]) -> str | None:
    """`verify` as the native source takes it."""
    if verify is True:
        return None
    if verify is False:
        return ""
    path = os.fspath(verify)
    if not isinstance(path, str) or not path:
        raise ValueError(f"verify must be True, False or the path of a CA bundle, found {verify!r}")
    return path


def refuse_cache(cache: object, cache_bytes: object) -> None:
    """Raises when a cache is asked for: fetching without one in silence would break the promise."""
    if cache is not None or cache_bytes is not None:
        raise NotImplementedError("cache= and cache_bytes= are not there yet; leave them out")
