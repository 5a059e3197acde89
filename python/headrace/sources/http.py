"""Items over HTTP."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from headrace._native import Source
from headrace.sources import options
from headrace.sources.fetched import FetchedDataset
from headrace.sources.template import Column, template_locations

__all__ = ["HttpDataset"]


class HttpDataset(FetchedDataset):
    """Item `i` is the body of a GET request to `urls[i]`.

    Args:
        urls: http:// or https:// URLs.
        headers: Sent with every request, and to no other origin (scheme, host or port) when redirected.
        timeout: Seconds for one attempt, body included; None for no limit.
        connect_timeout: Seconds for the connection alone; None for no limit.
        retries: Attempts after the first, for statuses 408, 429, 500, 502, 503, 504, broken connections and timeouts.
        backoff: Seconds before the first retry; they double with each, with jitter.
        max_backoff: Longest wait in seconds, also for a server's `Retry-After`.
        max_bytes: Largest item, checked before and while it is read.
        deadline: Seconds for the whole item, retries included; None for no limit.
        verify: True for the system's roots, False for no check, or the path of a CA bundle.
        cache: Must be None: items are not kept on disk yet.
        cache_bytes: Must be None.

    Raises:
        NotImplementedError: `cache` or `cache_bytes` was given.
        TypeError: An argument has the wrong type.
        ValueError: An argument, a URL or a template's value cannot be.

    Example:
        >>> tiles = HttpDataset.from_template("https://tiles.example/{x}.png", {"x": [0, 1, 2]})
        >>> len(tiles)
        3
    """

    def __init__(
        self,
        urls: Iterable[str],
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = 30,
        connect_timeout: float | None = 10,
        retries: int = 3,
        backoff: float = 0.1,
        max_backoff: float = 5,
        max_bytes: int = options.MAX_BYTES,
        deadline: float | None = None,
        verify: bool | str | os.PathLike[str] = True,
        cache: str | os.PathLike[str] | None = None,
        cache_bytes: int | None = None,
    ) -> None:
        locations = options.listed("urls", urls)
        for place, url in enumerate(locations):
            if not isinstance(url, str):
                raise TypeError(f"urls[{place}] must be a str, found {type(url).__name__}")
        if connect_timeout is not None:
            options.seconds("connect_timeout", connect_timeout)
        self._locations: Any = locations
        self._headers = options.headers_of(headers)
        self._retry = options.Retry(retries, backoff, max_backoff, timeout, deadline)
        self._connect_timeout = connect_timeout
        self._max_bytes = options.size("max_bytes", max_bytes)
        self._verify = options.verify_of(verify)
        options.refuse_cache(cache, cache_bytes)
        self._check_all()

    @classmethod
    def from_template(
        cls, template: str, columns: Mapping[str, Column] | None = None, *, length: int | None = None, **keywords: Any
    ) -> Self:
        """Item `i` is at the URL made from `template` with the values of item `i`, when it is fetched.

        Args:
            template: `{name}` is a column's value, `{index}` the item's index, `{{` and `}}` are braces.
            columns: Equally long sequences or one-dimensional arrays: ints are written in decimal, strs
                percent-encoded as a component of a URL.
            length: The number of items, required when there are no columns.
            **keywords: The options of `HttpDataset`.
        """
        dataset = cls([], **keywords)
        locations = template_locations(template, columns, length)
        dataset._locations, dataset._compiled = locations, None
        # Integers cannot spoil a path: the first URL stands for all.
        texts = any(not isinstance(column, np.ndarray) or column.dtype.kind in "UT" for column in locations[1])
        if texts or dataset._source.values_shape_the_host():
            dataset._check_all()
        else:
            dataset._source.check(0, 1)
        return dataset

    def _compile(self) -> Source:
        return Source.http(
            self._locations,
            retry=self._retry.as_native(),
            max_bytes=self._max_bytes,
            headers=self._headers,
            connect_timeout=self._connect_timeout,
            verify=self._verify,
        )
