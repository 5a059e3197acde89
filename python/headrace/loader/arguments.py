"""The arguments of `DataLoader`: checked, with torch's keywords translated into headrace's own."""

from __future__ import annotations

import inspect
import os
import random
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from headrace.loader.dataset import is_fetched
from headrace.loader.failures import OnError
from headrace.loader.sharding import Shard, resolve_shard

__all__ = ["PERSISTENT", "Options", "Settings", "as_transform", "resolve", "seed_of"]

PERSISTENT = object()
MAX_THREADS = 1024


class Options(TypedDict, total=False):
    """Keywords of `DataLoader` that do not change the type of a batch."""

    seed: int | None
    generator: Any
    prefetch_depth: int | None
    prefetch_factor: int | None
    persistent_workers: object
    multiprocessing_context: Any
    in_order: bool
    item_concurrency: int
    items_in_parallel: int | None
    runtime_threads: int | None
    workers: str
    shard: tuple[int, int] | str | None
    even: str
    on_error: OnError
    rng_seed: int | None


@dataclass(frozen=True)
class Settings:
    """What the arguments mean. `workers` is 0 for the calling thread; `timeout` is None for no limit (seconds)."""

    batch_size: int
    single: bool
    shuffle: bool
    sampler: Iterable[Any] | None
    batch_sampler: Iterable[Any] | None
    workers: int
    capacity: int
    collate: Callable[[Any], Any] | None
    transform: Callable[[int, Any], Any] | None
    pin_memory: bool
    drop_last: bool
    timeout: float | None
    init: Callable[[int], Any] | None
    in_order: bool
    lanes: int
    return_indices: bool
    runtime_threads: int | None
    shard: Shard
    on_error: OnError


def resolve(dataset: Any, stream: bool, given: dict[str, Any]) -> tuple[Settings, int | None]:
    """Checks the arguments of `DataLoader`; the second result is the shuffle's seed, where one was given.

    Raises:
        ValueError, TypeError: naming the argument, what was given and what would do.
    """
    batch_size, batch_sampler, sampler = given["batch_size"], given["batch_sampler"], given["sampler"]
    shuffle, drop_last = _flag(given, "shuffle"), _flag(given, "drop_last")
    if batch_sampler is not None:
        for name, clean in (("batch_size", 1), ("shuffle", False), ("sampler", None), ("drop_last", False)):
            value = given[name]
            if value is not clean and (value is None or value != clean):
                raise ValueError(f"batch_sampler makes the batches: {name}={given[name]!r} cannot be given beside it")
        _iterable(batch_sampler, "batch_sampler")
    if sampler is not None:
        if shuffle:
            raise ValueError("shuffle=True cannot be combined with sampler: the sampler says the order")
        _iterable(sampler, "sampler")
    if stream and (shuffle or sampler is not None or batch_sampler is not None):
        raise ValueError(
            "a stream has its own order: shuffle, sampler and batch_sampler need a dataset with __getitem__"
        )
    if batch_size is None and drop_last:
        raise ValueError("drop_last=True needs a batch_size")
    workers, capacity = _workers(given)
    if given["workers"] != "threads":
        raise ValueError(f"workers must be 'threads', not {given['workers']!r}")
    if given["multiprocessing_context"] is not None:
        raise ValueError("multiprocessing_context needs workers='processes'; workers are threads")
    for name in ("collate_fn", "worker_init_fn", "transform"):
        if given[name] is not None and not callable(given[name]):
            raise TypeError(f"{name} must be callable, not {given[name]!r}")
    on_error = given["on_error"]
    if not callable(on_error) and on_error not in ("raise", "skip"):
        raise ValueError(f"on_error must be 'raise', 'skip' or a callable, not {on_error!r}")
    settings = Settings(
        batch_size=1 if batch_size is None else _count(batch_size, "batch_size", 1),
        single=batch_size is None,
        shuffle=shuffle,
        sampler=sampler,
        batch_sampler=batch_sampler,
        workers=workers,
        capacity=capacity,
        collate=given["collate_fn"],
        transform=as_transform(given["transform"]),
        pin_memory=_flag(given, "pin_memory"),
        drop_last=drop_last,
        timeout=_seconds(given["timeout"]),
        init=given["worker_init_fn"],
        in_order=_flag(given, "in_order"),
        lanes=_lanes(given),
        return_indices=_flag(given, "return_indices"),
        runtime_threads=_runtime_threads(given, dataset),
        shard=resolve_shard(given["shard"], given["even"]),
        on_error=on_error,
    )
    return settings, _seed(given, shuffle)


def as_transform(transform: Callable[..., Any] | None) -> Callable[[int, Any], Any] | None:
    """`f(index, sample)` of a transform; a callable with exactly one required positional parameter gets the sample."""
    if transform is None:
        return None
    try:
        parameters = list(inspect.signature(transform).parameters.values())
    except (TypeError, ValueError):  # a builtin without a signature
        return transform
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    if len(required) == 1 or (not required and len(positional) == 1):
        return lambda _, sample: transform(sample)
    return transform


def seed_of(generator: Any) -> int:
    """A seed from torch's Generator (its seed), NumPy's Generator or random.Random (a draw)."""
    if hasattr(generator, "initial_seed"):
        return int(generator.initial_seed()) % (1 << 64)
    if isinstance(generator, np.random.Generator):
        return int(generator.integers(0, 1 << 63))
    if isinstance(generator, random.Random):
        return generator.getrandbits(63)
    raise TypeError(
        f"generator must be a torch.Generator, numpy.random.Generator or random.Random, not {type(generator).__name__}"
    )


def _seed(given: dict[str, Any], shuffle: bool) -> int | None:
    seed, generator = given["seed"], given["generator"]
    if seed is not None:
        if generator is not None:
            raise ValueError("give seed or generator, not both")
        if not shuffle:
            raise ValueError("seed needs shuffle=True (rng_seed seeds the draws of sample_rng)")
        return _count(seed, "seed", 0)
    return seed_of(generator) if generator is not None else None


def _workers(given: dict[str, Any]) -> tuple[int, int]:
    workers = given["num_workers"]
    if workers == "auto":
        workers = 2 * len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2 * (os.cpu_count() or 1)
    workers = _count(workers, "num_workers", 0)
    if workers > MAX_THREADS:
        raise ValueError(f"num_workers must be at most {MAX_THREADS}, not {workers}")
    depth, factor = given["prefetch_depth"], given["prefetch_factor"]
    if factor is not None:
        if workers == 0:
            raise ValueError("prefetch_factor needs num_workers of at least 1")
        if depth is not None:
            raise ValueError("give prefetch_factor or prefetch_depth, not both")
        depth = _count(factor, "prefetch_factor", 1) * workers
    depth = 2 if depth is None else _count(depth, "prefetch_depth", 1)
    return workers, workers + depth


def _lanes(given: dict[str, Any]) -> int:
    lanes = given["item_concurrency"]
    if given["items_in_parallel"] is not None:
        warnings.warn("items_in_parallel is now item_concurrency", DeprecationWarning, stacklevel=4)
        lanes = given["items_in_parallel"]
    return _count(lanes, "item_concurrency", 1)


def _runtime_threads(given: dict[str, Any], dataset: Any) -> int | None:
    threads = given["runtime_threads"]
    if threads is None:
        return None
    if not is_fetched(dataset):
        raise ValueError(
            f"runtime_threads is for async and native datasets; {type(dataset).__name__} runs on worker threads"
        )
    threads = _count(threads, "runtime_threads", 1)
    if threads > MAX_THREADS:
        raise ValueError(f"runtime_threads must be at most {MAX_THREADS}, not {threads}")
    return threads


def _count(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be an int, not {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")
    return int(value)


def _flag(given: dict[str, Any], name: str) -> bool:
    value = given[name]
    if value is None and name in ("shuffle", "drop_last", "pin_memory"):
        return False
    if not isinstance(value, (bool, np.bool_, int)):
        raise TypeError(f"{name} must be a bool, not {value!r}")
    return bool(value)


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"timeout must be a number of seconds, not {value!r}")
    if not value >= 0:
        raise ValueError(f"timeout must be at least 0 seconds (0: no limit), not {value}")
    return float(value) or None


def _iterable(value: Any, name: str) -> None:
    if isinstance(value, (str, bytes)) or not (hasattr(value, "__iter__") or hasattr(value, "__getitem__")):
        raise TypeError(f"{name} must be an iterable of indices, not {value!r}")
