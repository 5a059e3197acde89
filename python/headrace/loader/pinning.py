"""`pin_memory`: tensors copied to page-locked memory, on the worker that made them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["pinner"]

_warned = False


def pinner() -> Callable[[Any], Any] | None:
    """The function that pins a batch; None, with a warning once a process, without torch and CUDA."""
    global _warned
    try:
        import torch
    except ImportError:
        torch = None
    if torch is not None and torch.cuda.is_available():
        from torch.utils.data._utils.pin_memory import pin_memory

        pin: Callable[[Any], Any] = pin_memory
        return pin
    if not _warned:
        _warned = True
        warnings.warn("pin_memory=True does nothing without torch and CUDA", UserWarning, stacklevel=4)
    return None
