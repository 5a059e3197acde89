"""Every exception class of the package.

    HeadraceError                  whatever headrace itself finds wrong
    ├── StateError(ValueError)     a saved state does not fit this loader
    ├── SamplerError(ValueError)   a sampler gave what is no index
    ├── ClosedError(RuntimeError)  the loader was closed
    ├── DecodeError(ValueError)    bytes are no image that can be decoded within the limits
    └── TransformError(ValueError) a transform was given an image that it does not take

Exceptions of a user's own code are never wrapped: they arrive with their type and traceback, and a note
that says which item, batch and worker.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = ["ClosedError", "DecodeError", "HeadraceError", "SamplerError", "StateError", "TransformError"]


class HeadraceError(Exception):
    """Base of the exceptions that headrace raises for what it finds wrong itself."""

    kind: ClassVar[str] = "headrace"


class StateError(HeadraceError, ValueError):
    """A state given to `load_state_dict` does not fit the loader; the message names what differs."""

    kind = "state"


class SamplerError(HeadraceError, ValueError):
    """A sampler or batch sampler gave something that is no dataset index."""

    kind = "sampler"


class ClosedError(HeadraceError, RuntimeError):
    """The loader was closed, and then asked for a batch."""

    kind = "closed"


class DecodeError(HeadraceError, ValueError):
    """Bytes are no image, a damaged one, or one beyond the limits; the message names the format and what is wrong."""

    kind = "decode"


class TransformError(HeadraceError, ValueError):
    """A transform was given an image that it does not take; the message names the step of the chain."""

    kind = "transform"
