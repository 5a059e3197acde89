"""The native module: mechanisms that do not hold the interpreter while they wait or compute."""

from os import PathLike
from typing import Any, final

__all__ = ["BufferPool", "Image", "ImageBatch", "Permutation", "Window"]

@final
class Window:
    """Ordered bounded hand-off of results between workers and one consumer.

    At most `capacity` numbers are claimed and not yet taken, whether they run, wait or came early.
    Every method may be called from any thread; those that wait release the interpreter.
    """

    def __new__(cls, capacity: int, total: int | None = None, *, ordered: bool = True) -> Window: ...
    def claim(self) -> int | None:
        """Next number to work on; waits for room. None once there is none left or the window is closed."""
    def try_claim(self) -> int | None:
        """Like `claim` without waiting: None at the end. RuntimeError when no room is free, or the window closed."""
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
