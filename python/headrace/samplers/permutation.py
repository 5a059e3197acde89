"""A shuffled order in constant memory."""

import numpy as np
import numpy.typing as npt

from headrace import _native

__all__ = ["Permutation"]


class Permutation:
    """A keyed bijection on `[0, n)`: the same on every platform, in O(1) memory, each place in O(1) time.

    Objects are immutable and may be shared between threads.

    Args:
        n: How many places there are, at most `2**63 - 1`.
        key: Chooses the order, in `[0, 2**64)`.

    Raises:
        ValueError: `n` or `key` lies outside its range.

    Example:
        >>> order = Permutation(5, key=7)
        >>> sorted(order.indices(0, 5))
        [0, 1, 2, 3, 4]
        >>> order[-1] == order[4]
        True
    """

    __slots__ = ("_native", "key", "n")

    def __init__(self, n: int, key: int) -> None:
        self._native = _native.Permutation(n, key)
        self.n = n
        self.key = key

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> int:
        """The number in place `index`; a negative index counts from the end. IndexError beyond."""
        return self._native[index]

    def block(self, start: int, stop: int, step: int = 1) -> npt.NDArray[np.int64]:
        """The places of `range(start, stop, step)`, computed without holding the interpreter.

        Returns:
            A new int64 array of shape `(len(range(start, stop, step)),)`.

        Raises:
            IndexError: A place lies outside `[0, n)`.
        """
        out = np.empty(len(range(start, stop, step)), dtype=np.int64)
        self._native.fill(out, start, step)
        return out

    def indices(self, start: int, count: int, step: int = 1) -> list[int]:
        """`count` places from `start` on, `step` apart, as a list. IndexError when one lies outside `[0, n)`."""
        return self._native.indices(start, count, step)

    def __repr__(self) -> str:
        return f"Permutation({self.n}, key={self.key})"

    def __reduce__(self) -> tuple[type["Permutation"], tuple[int, int]]:
        return type(self), (self.n, self.key)
