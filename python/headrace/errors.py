"""Every exception class of the package.

    HeadraceError                  whatever headrace itself finds wrong
    ├── StateError(ValueError)     a saved state does not fit this loader
    ├── SamplerError(ValueError)   a sampler gave what is no index
    ├── ClosedError(RuntimeError)  the loader was closed
    ├── SchemaError(TypeError)     a class or a schema that cannot be one of samples
    ├── SampleError(ValueError)    a value or bytes that do not fit their schema
    └── LensError(TypeError)       a lens that cannot be made, found or used backwards

Exceptions of a user's own code are never wrapped: they arrive with their type and traceback, and a note
that says which item, batch and worker.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = ["ClosedError", "HeadraceError", "LensError", "SampleError", "SamplerError", "SchemaError", "StateError"]


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


class SchemaError(HeadraceError, TypeError):
    """A class or a schema's record cannot describe samples; the message names the class and the field."""

    kind = "schema"


class SampleError(HeadraceError, ValueError):
    """A value, or the bytes of a sample, do not fit what was expected of them.

    Attributes:
        sample_type: name of the sample's class, where one is known.
        field: name of the field, with the way into a nested value (`boxes[3].label`).
        expected: what the field holds.
        found: what was there instead.
    """

    kind = "sample"

    def __init__(
        self,
        message: str,
        *,
        sample_type: str | None = None,
        field: str | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        super().__init__(message)
        self.sample_type = sample_type
        self.field = field
        self.expected = expected
        self.found = found


class LensError(HeadraceError, TypeError):
    """A lens cannot be made of what was given, is not known, is known twice, or has no putter."""

    kind = "lens"
