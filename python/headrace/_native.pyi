"""The native module: mechanisms that do not hold the interpreter while they wait or compute."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, TypeAlias, final

from headrace.errors import SourceError

__all__ = [
    "BufferPool",
    "Fetches",
    "Image",
    "ImageBatch",
    "Permutation",
    "Plan",
    "Runtime",
    "Source",
    "Window",
    "first_raw",
    "pack",
    "unpack",
]

@final
class Window:
    """Ordered bounded hand-off of results between workers and one consumer.

    At most `capacity` numbers are claimed and not yet taken, whether they run, wait or came early.
    Every method may be called from any thread; those that wait release the interpreter.
    """

    def __new__(cls, capacity: int, total: int | None = None, *, ordered: bool = True) -> Window: ...
    def claim(self) -> int | None:
        """Next number to work on; waits for room. None once there is none left or the window is closed."""
    def __iter__(self) -> Window: ...
    def __next__(self) -> int:
        """Claims without waiting, for a claimer that is the consumer too: `for number in window` ends with the numbers.

        RuntimeError when no room is free (another thread is at it), or the window closed.
        """
    def put(self, number: int, result: Any) -> None:
        """Hands over the result of a claimed number. Dropped in silence when the window is closed."""
    def fail(self, number: int, exception: BaseException) -> None:
        """Hands over an exception; `take` raises that very object in the number's turn."""
    def skip(self, number: int) -> None:
        """Marks a claimed number as left out: `take` passes over it."""
    def give(self, number: int) -> None:
        """Counts a claimed number as put and taken: the claimer is the consumer and keeps the result."""
    def finish(self, total: int) -> None:
        """Says that there are `total` numbers in all (a stream's end)."""
    def take(self, timeout: float | None = None) -> Any:
        """The next result, in order when `ordered`.

        Raises StopIteration at the end, TimeoutError after `timeout` seconds (the window stays usable),
        RuntimeError when closed or when another thread is inside `take`, and what `fail` handed over.
        Signals are handled at least every 50 ms while it waits on the main thread.
        """
    def close(self) -> None:
        """Ends every wait and drops the results that were not taken. Idempotent."""
    def tune(self, limit: int, group: int, spin_us: int) -> None:
        """At most `limit` workers between claim and put, woken when `group` places are free; all spin before parking.

        A consumer that was kept waiting for 50 ms raises the limit by one.
        """
    @property
    def given(self) -> int:
        """All numbers below this one were taken or skipped past."""
    @property
    def ahead(self) -> list[int]:
        """Numbers above `given` that were taken already (only when not `ordered`)."""
    @property
    def closed(self) -> bool: ...
    @property
    def outstanding(self) -> int:
        """Numbers claimed and not yet taken; once closed, those that still run."""
    def statistics(self) -> dict[str, float]:
        """Counts and seconds since the window was made.

        Counts: `claimed`, `put`, `taken`, `skipped`, `failed`, `largest`, `occupancy` (sum over takes of outstanding);
        seconds: `wait_s` (consumer waited in `take`), `idle_s` (workers waited for room, summed).
        """

@final
class Permutation:
    """Keyed bijection on [0, n) in constant memory."""

    def __new__(cls, n: int, key: int) -> Permutation: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> int: ...
    def indices(self, start: int, count: int, step: int = 1) -> list[int]:
        """`[self[start], self[start + step], ...]`, `count` of them. IndexError beyond the end."""
    def fill(self, out: Any, start: int, step: int = 1) -> None:
        """Writes `self[start + k * step]` into `out[k]`, a contiguous writable int64 buffer.

        Releases the interpreter.
        """

# Sources

# A list of URLs, paths or keys; or a template, its columns in the order of `Source.placeholders`, and the length.
_Where: TypeAlias = list[str] | tuple[str, list[Any], int]
# retries, backoff, max_backoff, timeout and deadline; None is no limit.
_Retry: TypeAlias = dict[str, float | None]

@final
class Runtime:
    """Threads, connections and the bound on the requests in flight. It belongs to the process that made it."""

    def __new__(cls, threads: int | None, in_flight: int) -> Runtime: ...
    def close(self) -> None:
        """Stops what runs without waiting for it; who waits for a batch gets CancelledError. Idempotent."""

@final
class Source:
    """A dataset's description, compiled once. Arguments were checked in Python."""

    @staticmethod
    def http(
        locations: _Where,
        *,
        retry: _Retry,
        max_bytes: int,
        headers: list[tuple[str, str]],
        connect_timeout: float | None,
        verify: str | None,
    ) -> Source:
        """`verify`: None for the system's roots, "" for no check, else a file of certificates."""
    @staticmethod
    def files(locations: _Where, *, retry: _Retry, max_bytes: int) -> Source: ...
    @staticmethod
    def placeholders(template: str) -> list[str]:
        """The columns that a template uses, `index` left out. ValueError when its braces do not match."""
    def __len__(self) -> int: ...
    def location(self, index: int) -> str:
        """Where an item is, without anything that could be secret."""
    def check(self, start: int, stop: int) -> None:
        """ValueError for the first item from `start` up to `stop` whose location cannot be."""
    def values_shape_the_host(self) -> bool:
        """Whether a template's values decide about more of a URL than its path and query."""
    def start(self, runtime: Runtime, indices: Sequence[int], concurrency: int) -> Fetches:
        """Begins the requests, `concurrency` at once, and returns. IndexError for an index outside the dataset."""

@final
class Fetches:
    """One batch. Dropping it cancels it. Items are bytes, or the SourceError that took their place."""

    def next(self) -> tuple[int, bytes | SourceError] | None:
        """(position in `indices`, item) in the order of arrival; None when all were given.

        Releases the interpreter, handles signals every 50 ms, raises CancelledError once cancelled.
        """
    def all(self) -> list[bytes | SourceError]:
        """The items not yet given, in the order of `indices`."""
    def cancel(self) -> None:
        """Drops what is in flight and returns at once."""

# Images

@final
class Image:
    """A picture that does not change: uint8, uint16 or float32 values in HWC or CHW, and their colour space.

    `numpy.asarray(image)` and `torch.from_dlpack(image)` are views without a copy, read-only where the consumer knows
    that word, and keep the picture alive. Any thread may use it.
    """

    @classmethod
    def from_array(cls, obj: Any, layout: str = "hwc") -> Image:
        """A new image with a copy of an array's values.

        Args:
            obj: what `numpy.asarray` takes, of shape `(height, width)` or as `layout` says, with 1, 3 or 4 channels
                (gray, RGB, RGBA), uint8, uint16 or float32.
            layout: `"hwc"` or `"chw"`, the order of `obj`'s axes. The image is in HWC.

        Raises:
            TypeError: another dtype (values are never converted), or memory of another device.
            ValueError: another shape, or more than 16384 x 16384 pixels or 256 MiB.
        """
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def channels(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int, int]:
        """`(height, width, channels)`, or `(channels, height, width)` in CHW."""
    @property
    def dtype(self) -> str:
        """`"uint8"`, `"uint16"` or `"float32"`."""
    @property
    def layout(self) -> str:
        """`"HWC"` or `"CHW"`."""
    @property
    def color(self) -> str:
        """`"L"`, `"LA"`, `"RGB"`, `"RGBA"` or `"CMYK"`."""
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def save(self, path: str | PathLike[str]) -> None:
        """Writes a PNG file; ValueError for a path that does not end in `.png`."""
    def _repr_png_(self) -> bytes: ...
    def to_pil(self) -> Any:
        """A `PIL.Image.Image` with a copy of the values; ValueError where they are not uint8."""

@final
class ImageBatch:
    """Images of one shape in one buffer, aligned to 64 bytes.

    `numpy.asarray(batch)` and `torch.from_dlpack(batch)` are writable views without a copy, and keep the buffer.
    """

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """`(n, channels, height, width)` in NCHW, `(n, height, width, channels)` in NHWC."""
    @property
    def dtype(self) -> str: ...
    @property
    def layout(self) -> str:
        """`"NCHW"` or `"NHWC"`."""
    @property
    def color(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> Image:
        """A copy of one image as it is now."""
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def save(self, path: str | PathLike[str]) -> None:
        """Writes a contact sheet of the first 64 images as a PNG file."""
    def _repr_png_(self) -> bytes: ...
    def to_pil(self) -> list[Any]:
        """Copies as `PIL.Image.Image` objects."""

@final
class BufferPool:
    """Memory of up to `buffers` dropped batches, kept for the next ones."""

    def __new__(cls, buffers: int) -> BufferPool: ...
    def stack(self, images: list[Image], layout: str) -> ImageBatch:
        """A batch of equal images in `"NCHW"` or `"NHWC"`. Releases the interpreter.

        Raises ValueError for no images, unequal ones or another layout, MemoryError where there is no memory.
        """

# Samples

def pack(value: Any) -> bytes:
    """The msgpack of None, bool, int, float, str, bytes, list, tuple and dict, nested at most 256 deep.

    Raises SampleError for any other type, an integer beyond 64 bits and a string that UTF-8 cannot write.
    """

def unpack(data: Any) -> Any:
    """The value of the msgpack in a bytes-like object: arrays as lists, maps as dicts, str and bytes apart.

    Raises SampleError for what is cut, nested deeper than 256 levels, followed by other bytes, not UTF-8, an ext
    type, a key given twice, or a count that the bytes left cannot hold (before anything is allocated).
    """

# Chains of image operations

@final
class Plan:
    """A chain of image operations, compiled once and frozen; used by any number of threads."""

    def __new__(cls, steps: list[tuple[str, Any]]) -> Plan: ...
    def run(self, item: Any, seed: int) -> Image:
        """One encoded item (bytes-like) or Image through the chain. Releases the interpreter."""
    def run_batch(
        self, items: list[Any], seed: int, epoch: int, indices: list[int], layout: str, pool: BufferPool
    ) -> tuple[ImageBatch | None, list[tuple[int, Exception]]]:
        """A batch in one pass, and the failures by position. Releases the interpreter."""
    @property
    def fused_from(self) -> int:
        """The first step of those that run in one pass into the batch."""

def first_raw(seed: int, epoch: int, index: int) -> int:
    """The first raw uint64 that `sample_rng()` gives for an item."""
