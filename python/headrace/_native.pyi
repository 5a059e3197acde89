"""The native module: mechanisms that do not hold the interpreter while they wait or compute."""

from typing import Any, final

__all__ = ["Permutation", "Window", "pack", "unpack"]

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

# Samples

def pack(value: Any, /) -> bytes:
    """The msgpack of None, bool, int, float, str, bytes, list, tuple and dict, nested at most 256 deep.

    Raises SampleError for any other type, an integer beyond 64 bits and a string that UTF-8 cannot write.
    """

def unpack(data: Any, /) -> Any:
    """The value of the msgpack in a bytes-like object: arrays as lists, maps as dicts, str and bytes apart.

    Raises SampleError for what is cut, nested deeper than 256 levels, followed by other bytes, not UTF-8, an ext
    type, a key given twice, or a count that the bytes left cannot hold (before anything is allocated).
    """
