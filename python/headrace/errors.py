"""Every exception class of the package.

    HeadraceError                  whatever headrace itself finds wrong
    ├── StateError(ValueError)     a saved state does not fit this loader
    ├── SamplerError(ValueError)   a sampler gave what is no index
    ├── ClosedError(RuntimeError)  the loader was closed
    └── ShardError                 a shard, or a sample in it, is not as it should be
        └── MissingShardError(FileNotFoundError)   there is no shard of that name

Exceptions of a user's own code are never wrapped: they arrive with their type and traceback, and a note
that says which item, batch and worker.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = ["ClosedError", "HeadraceError", "MissingShardError", "SamplerError", "ShardError", "StateError"]


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


class ShardError(HeadraceError):
    """A shard, or a sample in it, is not as it should be.

    Attributes:
        shard: Name of the shard, None where it is not one shard's fault.
        offset: Byte in the shard where the trouble is.
        key: Key of the sample.
    """

    kind = "shard"

    def __init__(
        self, message: str, *, shard: str | None = None, offset: int | None = None, key: str | None = None
    ) -> None:
        super().__init__(message)
        self.shard = shard
        self.offset = offset
        self.key = key


class MissingShardError(ShardError, FileNotFoundError):
    """There is no shard of the name that was given."""

    kind = "missing_shard"
