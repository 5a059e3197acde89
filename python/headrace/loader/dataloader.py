"""`DataLoader`: arguments, epochs, state. What a batch is made of stands in the modules beside this one."""

from __future__ import annotations

import functools
import secrets
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, Generic, Literal, TypeVar, Unpack, cast, overload

from headrace._native import Window
from headrace.draws import Draws
from headrace.errors import ClosedError
from headrace.loader.arguments import PERSISTENT, Options, resolve
from headrace.loader.arrivals import ArrivalBatcher
from headrace.loader.batching import Batcher
from headrace.loader.dataset import AsyncDataset, SupportsItems, check_dataset, is_stream
from headrace.loader.epoch import add_counts, begin_epoch
from headrace.loader.executors import Executor, InlineExecutor, ThreadExecutor
from headrace.loader.failures import Failure, FailureLog, OnError
from headrace.loader.iterator import BatchIterator, Progress
from headrace.loader.order import GroupOrder, Order, SampleOrder, epoch_key, read_batch_sampler, read_sampler
from headrace.loader.origins import origin_of, threads_of
from headrace.loader.pinning import pinner
from headrace.loader.pool import ThreadPool
from headrace.loader.state import State
from headrace.loader.statistics import Occupancy, Stages, Stats, report
from headrace.loader.stream import StreamReader
from headrace.loader.tuning import AllAwake, Tuner
from headrace.samplers import Permutation

__all__ = ["DataLoader"]

Batch = TypeVar("Batch")
Sample = TypeVar("Sample")


class DataLoader(Generic[Batch]):
    """Batches of a dataset, made by worker threads, in one order whatever their number.

    Iterating starts the next epoch. The batches are a pure function of the dataset's length, the arguments, the
    seed and the epoch. A loader may be used from any thread, one at a time; `with DataLoader(...) as loader`
    closes it at the end.

    Args:
        dataset: any object with `__len__` and `__getitem__` (`__getitems__(indices)` is used where it is
            defined), or one with `__iter__` alone, which one thread reads from start to end.
        batch_size: samples in a batch; None gives the items one by one.
        shuffle: a new permutation each epoch, made in constant memory.
        sampler: iterable of indices, read to its end when an epoch starts.
        batch_sampler: iterable of lists of indices; excludes batch_size, shuffle, sampler and drop_last.
        num_workers: batches in the making at once, each on its thread; 0: on the calling thread; "auto".
        collate_fn: from the list of samples to a batch, on the worker; None gives the list.
        pin_memory: copy tensors to pinned memory, where torch has CUDA.
        drop_last: leave out a last batch that is short.
        timeout: seconds to wait for a batch before `TimeoutError`; the iterator stays usable. 0: no limit.
        worker_init_fn: called once in each worker with its number.
        seed: of shuffle's permutations; without it, one is drawn when the loader is made and kept in its state.
        generator: torch's, NumPy's or random.Random, in place of seed.
        prefetch_depth: at most `num_workers + prefetch_depth` batches exist ahead of the consumer (2).
        prefetch_factor: torch's: `prefetch_depth = prefetch_factor * num_workers`.
        persistent_workers: accepted; workers always persist.
        in_order: False gives batches as they are ready, within the same bound.
        transform: `f(index, sample)` or `f(sample)`, on the worker, before collate_fn.
        item_concurrency: items fetched at once for each worker; of one batch, each on a thread, or for an
            `AsyncDataset` and native datasets `num_workers * item_concurrency` over all batches, without a thread each.
        runtime_threads: threads that carry the network of native datasets; None: one for each CPU.
        return_indices: give `(batch, indices)`.
        shard: `(rank, world_size)`, or "env" for torchrun's, SLURM's or Open MPI's variables.
        even: "pad" repeats from the start of the order, "drop" leaves out, so that ranks have equal counts.
        on_error: "raise"; "skip" (recorded in `failures`); or `f(failure) -> sample`.
        rng_seed: of `sample_rng`; without it, `seed`, else one drawn when the loader is made.

    Raises:
        ValueError, TypeError: naming the argument, what was given and what would do.

    Example:
        >>> loader = DataLoader([10, 11, 12, 13, 14], batch_size=2, num_workers=2)
        >>> list(loader)
        [[10, 11], [12, 13], [14]]
    """

    @overload
    def __init__(
        self: DataLoader[list[Sample]],
        dataset: AsyncDataset[Sample],
        batch_size: int = 1,
        shuffle: bool = False,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        num_workers: int | Literal["auto"] = 0,
        collate_fn: None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        *,
        transform: None = None,
        return_indices: Literal[False] = False,
        **options: Unpack[Options],
    ) -> None: ...

    @overload
    def __init__(
        self: DataLoader[list[Sample]],
        dataset: SupportsItems[Sample],
        batch_size: int = 1,
        shuffle: bool = False,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        num_workers: int | Literal["auto"] = 0,
        collate_fn: None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        *,
        transform: None = None,
        return_indices: Literal[False] = False,
        **options: Unpack[Options],
    ) -> None: ...

    @overload
    def __init__(
        self: DataLoader[Batch],
        dataset: SupportsItems[Any] | Iterable[Any],
        batch_size: int = 1,
        shuffle: bool = False,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        num_workers: int | Literal["auto"] = 0,
        *,
        collate_fn: Callable[[list[Any]], Batch],
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        transform: Callable[..., Any] | None = None,
        return_indices: Literal[False] = False,
        **options: Unpack[Options],
    ) -> None: ...

    @overload
    def __init__(
        self: DataLoader[tuple[Batch, list[int]]],
        dataset: SupportsItems[Any] | Iterable[Any],
        batch_size: int | None = 1,
        shuffle: bool | None = False,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        num_workers: int | Literal["auto"] = 0,
        *,
        collate_fn: Callable[[list[Any]], Batch],
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        transform: Callable[..., Any] | None = None,
        return_indices: Literal[True],
        **options: Unpack[Options],
    ) -> None: ...

    @overload
    def __init__(
        self: DataLoader[Any],
        dataset: SupportsItems[Any] | Iterable[Any],
        batch_size: int | None = 1,
        shuffle: bool | None = False,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Sequence[int]] | None = None,
        num_workers: int | Literal["auto"] = 0,
        collate_fn: None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        *,
        transform: Callable[..., Any] | None = None,
        return_indices: bool = False,
        **options: Unpack[Options],
    ) -> None: ...

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = False,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int | str = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        *,
        seed: int | None = None,
        generator: Any = None,
        prefetch_depth: int | None = None,
        prefetch_factor: int | None = None,
        persistent_workers: object = PERSISTENT,
        multiprocessing_context: Any = None,
        in_order: bool = True,
        transform: Callable[..., Any] | None = None,
        item_concurrency: int = 1,
        items_in_parallel: int | None = None,
        return_indices: bool = False,
        runtime_threads: int | None = None,
        workers: str = "threads",
        shard: tuple[int, int] | str | None = None,
        even: str = "pad",
        on_error: OnError = "raise",
        rng_seed: int | None = None,
    ) -> None:
        given = dict(locals())
        check_dataset(dataset)
        self.dataset = dataset
        self._stream = is_stream(dataset)
        settings, seed = resolve(dataset, self._stream, given)
        self._settings = settings
        if seed is None and settings.shuffle:
            # Ranks that drew seeds of their own would lose samples: they share torch's DistributedSampler's default.
            seed = 0 if settings.shard.world > 1 else secrets.randbits(63)
        self._seed = seed
        if rng_seed is not None and (isinstance(rng_seed, bool) or not isinstance(rng_seed, int)):
            raise TypeError(f"rng_seed must be an int, not {rng_seed!r}")
        fallback = secrets.randbits(63) if self._seed is None else self._seed
        self._rng_seed: int = fallback if rng_seed is None else rng_seed
        self._stages = Stages()
        self._failures = FailureLog()
        lane_pool = ThreadPool("headrace-item", max(1, settings.workers) * settings.lanes)
        shared: dict[str, Any] = dict(
            dataset=dataset,
            transform=settings.transform,
            collate=settings.collate,
            single=settings.single,
            return_indices=settings.return_indices,
            lanes=settings.lanes,
            on_error=settings.on_error,
            failures=self._failures,
            stages=self._stages,
            pool=lane_pool,
            pin=pinner() if settings.pin_memory else None,
        )
        self._origin = origin_of(dataset, settings)
        self._batcher = Batcher(**shared) if self._origin is None else ArrivalBatcher(**shared, origin=self._origin)
        tuner = Tuner if self._origin is None else AllAwake
        self._tuner = tuner(max(1, settings.workers), settings.capacity, self._stages)
        self._executor: Executor = (
            ThreadExecutor(threads_of(dataset, settings), settings.capacity, self._tuner, settings.init)
            if settings.workers
            else InlineExecutor()
        )
        self._epoch = 0
        self._resume: State | None = None
        self._progress: Progress | None = None
        self._iterator: weakref.ref[BatchIterator[Batch]] | None = None
        self._past = dict.fromkeys(("taken", "samples", "wait_s", "idle_s", "occupancy", "largest", "skipped"), 0.0)
        self._elapsed_s = 0.0
        self._began = 0.0
        self._closed = False

    # Epochs

    def __iter__(self) -> Iterator[Batch]:
        if self._closed:
            raise ClosedError("the loader is closed")
        settings, resume = self._settings, self._resume
        epoch = self._epoch if resume is None else resume.epoch
        sampler_state = self._prepare_sampler(resume)
        start = 0 if resume is None else resume.consumed
        passed = frozenset[int]() if resume is None else frozenset(resume.ahead)
        source: Order | StreamReader
        if self._stream:
            source = StreamReader(self.dataset, settings.batch_size, settings.shard, start, settings.drop_last)
            window = Window(self._executor.capacity, ordered=settings.in_order)
            batches = None
        else:
            source = self._order(epoch, start)
            batches = source.batches
            window = Window(self._executor.capacity, batches - len(passed), ordered=settings.in_order)
        progress = Progress(epoch, source, window, passed)
        progress.sampler_state = sampler_state
        begin = functools.partial(begin_epoch, self._batcher, Draws(self._rng_seed, epoch))
        iterator: BatchIterator[Batch] = BatchIterator(self, progress, batches, begin, settings.timeout)
        self._fold()
        self._resume = None
        self._epoch = epoch + 1
        self._progress = progress
        self._iterator = weakref.ref(iterator)
        self._began = perf_counter()
        return cast("Iterator[Batch]", iterator)

    def __len__(self) -> int:
        settings = self._settings
        if settings.batch_sampler is not None:
            return settings.shard.count(len(cast("Any", settings.batch_sampler)))
        length = len(self.dataset if settings.sampler is None else cast("Any", settings.sampler))
        count = settings.shard.count(length)
        whole, rest = divmod(count, settings.batch_size)
        return whole + (rest > 0 and not settings.drop_last)

    @property
    def epoch(self) -> int:
        """The running epoch, else the next one."""
        if self._progress is not None and self._running():
            return self._progress.epoch
        return self._epoch if self._resume is None else self._resume.epoch

    def set_epoch(self, epoch: int) -> None:
        """Makes `epoch` the one that the next `iter()` starts."""
        if isinstance(epoch, bool) or not isinstance(epoch, int):
            raise TypeError(f"epoch must be an int, not {epoch!r}")
        if epoch < 0:
            raise ValueError(f"epoch must be at least 0, not {epoch}")
        if self._resume is not None and self._resume.epoch == epoch:
            return
        self._epoch = epoch
        self._resume = None
        if not self._running():
            self._drop_progress()

    # State

    def state_dict(self) -> dict[str, Any]:
        """Where the consumer stands: JSON-able, under 1 KB. Between epochs, the beginning of the next one."""
        if self._resume is not None:
            return self._resume.to_dict()
        progress, settings = self._progress, self._settings
        state = State(
            epoch=self._epoch,
            consumed=0,
            unit="samples" if settings.batch_sampler is None else "batches",
            length=None if self._stream else len(self.dataset),
            shuffle=settings.shuffle,
            seed=self._seed,
            rng_seed=self._rng_seed,
        )
        if progress is None or self._ended(progress):
            return state.to_dict()
        given = progress.given
        ahead = [number - given for number in progress.ahead]
        values = state.to_dict() | {
            "epoch": progress.epoch,
            "consumed": progress.source.consumed(given),
            "ahead": ahead,
            "layout": self._layout() if ahead else [],
            "sampler": progress.sampler_state,
        }
        return values

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from a state: the next `iter()` gives exactly the rest of its epoch.

        Raises:
            StateError: a state of another length or another order; the message says what differs.
            RuntimeError: an epoch is running.
        """
        if self._closed:
            raise ClosedError("the loader is closed")
        if self._running():
            raise RuntimeError("load_state_dict: an epoch is running; load before iter(), or after the epoch's end")
        found = State.from_dict(state)
        settings = self._settings
        found.check(
            unit="samples" if settings.batch_sampler is None else "batches",
            length=None if self._stream else len(self.dataset),
            shuffle=settings.shuffle,
            layout=self._layout(),
        )
        if settings.shuffle:
            self._seed = found.seed
        self._rng_seed = found.rng_seed
        self._drop_progress()
        self._resume = found
        self._epoch = found.epoch

    # Statistics

    @property
    def failures(self) -> list[Failure]:
        """Samples that were skipped or substituted, over all epochs: the first 10,000."""
        return list(self._failures.entries)

    def stats(self) -> Stats:
        """Counts and seconds since the loader was made."""
        total = dict(self._past)
        elapsed = self._elapsed_s
        progress = self._progress
        if progress is not None:
            add_counts(total, progress)
            elapsed += perf_counter() - self._began
        stages, workers = self._stages, self._settings.workers
        wait = total["wait_s"]
        skipped = self._failures.count if self._settings.on_error == "skip" else 0
        if not workers:
            wait += stages.fetch + stages.transform + stages.collate
        return Stats(
            batches=int(total["taken"]),
            samples=max(0, int(total["samples"]) - skipped),
            bytes=stages.size_bytes,
            seconds={
                "fetch": stages.fetch,
                "transform": stages.transform,
                "collate": stages.collate,
                "consumer": total["idle_s"],
                "wait": wait,
            },
            window=Occupancy(total["occupancy"] / max(1.0, total["taken"]), int(total["largest"])),
            workers_awake=self._tuner.awake if workers else 0,
            awake_reason=self._tuner.reason if workers else "the calling thread makes the batches",
            failures=self._failures.count,
            left_out=int(total["skipped"]),
            elapsed_s=elapsed,
            num_workers=workers,
        )

    def report(self) -> str:
        """The statistics in words: where the time went, the bottleneck, what to turn."""
        return report(self.stats())

    # Closing

    def close(self) -> None:
        """Ends the running epoch and lets the workers go; returns at once, also when one of them is stuck."""
        if self._closed:
            return
        self._closed = True
        if self._progress is not None:
            self._progress.leave()
        if self._origin is not None:
            self._origin.close()
        self._executor.close()
        self._batcher.pool.close()

    def __enter__(self) -> DataLoader[Batch]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_closed"):
            self.close()

    # Inside

    def _order(self, epoch: int, start: int) -> Order:
        settings = self._settings
        if settings.batch_sampler is not None:
            return GroupOrder(read_batch_sampler(settings.batch_sampler), settings.shard, start)
        sequence: range | list[int] | Permutation
        if settings.sampler is not None:
            sequence = read_sampler(settings.sampler)
        else:
            length = len(self.dataset)
            assert self._seed is not None or not settings.shuffle
            sequence = Permutation(length, epoch_key(self._seed or 0, epoch)) if settings.shuffle else range(length)
        return SampleOrder(sequence, settings.batch_size, settings.shard, start, settings.drop_last)

    def _prepare_sampler(self, resume: State | None) -> Any:
        """Asks a sampler with a state of its own for it at the epoch's start, or gives it back on a resume."""
        sampler = self._settings.sampler if self._settings.sampler is not None else self._settings.batch_sampler
        if not (hasattr(sampler, "state_dict") and hasattr(sampler, "load_state_dict")):
            return None
        if resume is not None and resume.sampler is not None:
            cast("Any", sampler).load_state_dict(resume.sampler)
        return cast("Any", sampler).state_dict()

    def _layout(self) -> list[int]:
        return [self._settings.batch_size, self._settings.shard.rank, self._settings.shard.world]

    def _running(self) -> bool:
        iterator = self._iterator() if self._iterator is not None else None
        return iterator is not None and self._progress is not None and not self._ended(self._progress)

    def _ended(self, progress: Progress) -> bool:
        """Whether every batch was given (the consumer may not have asked for the end yet)."""
        if progress.ended:
            return True
        if isinstance(progress.source, StreamReader):
            return False
        return progress.given >= progress.source.batches

    def _fold(self) -> None:
        """Adds the last epoch's counts to the totals."""
        if self._progress is not None:
            add_counts(self._past, self._progress)
            self._elapsed_s += perf_counter() - self._began

    def _drop_progress(self) -> None:
        self._fold()
        self._progress = None
        self._iterator = None
