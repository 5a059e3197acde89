"""Items from files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Self

from headrace._native import Source
from headrace.sources import options
from headrace.sources.fetched import FetchedDataset
from headrace.sources.template import Column, template_locations

__all__ = ["FileDataset"]


class FileDataset(FetchedDataset):
    """Item `i` is the content of the file `paths[i]`.

    Args:
        paths: Paths of files.
        timeout: Seconds for one attempt; None for no limit. With a limit, a file system that hangs fails the attempt.
        retries: Attempts after the first, for timeouts and the errors `TimedOut`, `Interrupted` and `WouldBlock`.
        backoff: Seconds before the first retry; they double with each, with jitter.
        max_backoff: Longest wait in seconds.
        max_bytes: Largest item, checked before and while it is read.

    Raises:
        TypeError: An argument has the wrong type.
        ValueError: An argument, a path or a template's value cannot be.

    Example:
        >>> import os
        >>> FileDataset([os.devnull])[0]
        b''
    """

    def __init__(
        self,
        paths: Iterable[str | bytes | os.PathLike[Any]],
        *,
        timeout: float | None = None,
        retries: int = 0,
        backoff: float = 0.1,
        max_backoff: float = 5,
        max_bytes: int = options.MAX_BYTES,
    ) -> None:
        self._locations: Any = [os.fsdecode(path) for path in options.listed("paths", paths)]  # type: ignore[arg-type]
        self._retry = options.Retry(retries, backoff, max_backoff, timeout)
        self._max_bytes = options.size("max_bytes", max_bytes)
        self._check_all()

    @classmethod
    def from_template(
        cls, template: str, columns: Mapping[str, Column] | None = None, *, length: int | None = None, **keywords: Any
    ) -> Self:
        """Item `i` is the file whose path is made from `template` with the values of item `i`, when it is read.

        Args:
            template: `{name}` is a column's value, `{index}` the item's index, `{{` and `}}` are braces.
            columns: Equally long sequences or one-dimensional arrays of ints or strs. A str is written as it is; it
                holds no `/`, backslash or NUL and is not `.` or `..`, so that it cannot leave the directory.
            length: The number of items, required when there are no columns.
            **keywords: The options of `FileDataset`.
        """
        dataset = cls([], **keywords)
        dataset._locations, dataset._compiled = template_locations(template, columns, length), None
        dataset._check_all()
        return dataset

    def _compile(self) -> Source:
        return Source.files(self._locations, retry=self._retry.as_native(), max_bytes=self._max_bytes)
