"""What the sources share: a mapping from index to bytes."""

from __future__ import annotations

import operator
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, SupportsIndex

from headrace._native import Source
from headrace.sources.runtime import direct_runtime

__all__ = ["FetchedDataset"]


class FetchedDataset(ABC):
    """A dataset whose items are bytes, fetched without the interpreter.

    Any thread may use it, and a forked or unpickled copy makes what it needs anew.
    """

    _compiled: tuple[int, Source] | None = None

    @abstractmethod
    def _compile(self) -> Source: ...

    @property
    def _source(self) -> Source:
        """The native source of this process."""
        compiled = self._compiled
        if compiled is None or compiled[0] != os.getpid():
            compiled = self._compiled = (os.getpid(), self._compile())
        return compiled[1]

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, index: SupportsIndex) -> bytes:
        """Fetches one item; `-1` is the last.

        Raises:
            IndexError: No such item.
            SourceError: It could not be fetched.
        """
        return self.fetch([operator.index(index)], concurrency=1)[0]

    def fetch(self, indices: Iterable[SupportsIndex], concurrency: int = 64) -> list[bytes]:
        """Fetches items, `concurrency` at once, with the interpreter free.

        Args:
            indices: Dataset indices; negative ones count from the end.
            concurrency: Most requests in flight at once.

        Returns:
            The items in the order of `indices`.

        Raises:
            IndexError: An index is outside the dataset.
            SourceError: The first item, in the order of `indices`, that could not be fetched.
        """
        if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
            raise ValueError(f"concurrency must be an int of at least 1, found {concurrency!r}")
        wanted = [operator.index(index) for index in indices]
        items: list[bytes] = []
        for item in self._source.start(direct_runtime(), wanted, concurrency).all():
            if isinstance(item, BaseException):
                raise item
            items.append(item)
        return items

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_compiled"}

    def __repr__(self) -> str:
        first = f", the first at {self._source.location(0)!r}" if len(self) else ""
        return f"<{type(self).__name__} of {len(self)} items{first}>"

    def _check_all(self) -> None:
        """Raises ValueError for the first item whose location cannot be."""
        self._source.check(0, len(self))
