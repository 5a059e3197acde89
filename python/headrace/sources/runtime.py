"""The runtime of direct access (`ds[i]`, `ds.fetch`): one a process, made when first used."""

from __future__ import annotations

import os
import threading

from headrace._native import Runtime

__all__ = ["IN_FLIGHT", "direct_runtime"]

IN_FLIGHT = 1024
"""Requests in flight over all direct calls of a process."""

_lock = threading.Lock()
_runtime: Runtime | None = None


def direct_runtime() -> Runtime:
    """The process's runtime. A loader has its own."""
    global _runtime
    with _lock:
        if _runtime is None:
            _runtime = Runtime(None, IN_FLIGHT)
        return _runtime


def _in_child() -> None:
    """A child has no thread of its parent's runtime, and a lock that may be held for ever."""
    global _lock, _runtime
    _lock = threading.Lock()
    _runtime = None


os.register_at_fork(after_in_child=_in_child)
