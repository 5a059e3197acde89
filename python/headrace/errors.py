"""Every exception class of the package.

    HeadraceError                  whatever headrace itself finds wrong
    ├── StateError(ValueError)     a saved state does not fit this loader
    ├── SamplerError(ValueError)   a sampler gave what is no index
    ├── ClosedError(RuntimeError)  the loader was closed
    ├── CancelledError             what was being fetched was cancelled
    ├── SourceError(OSError)       an item could not be fetched; url, status, attempts, index
    │   ├── NotFoundError(FileNotFoundError)
    │   ├── PermissionDeniedError(PermissionError)
    │   ├── ThrottledError         the server asked for fewer requests
    │   ├── ServerError            the server failed
    │   ├── TransportError(ConnectionError)   no connection, a broken one, or a body that stayed short
    │   ├── FetchTimeoutError(TimeoutError)   an attempt's timeout or the item's deadline passed
    │   ├── ItemTooLargeError(ValueError)     more than max_bytes, or than the cache may hold
    │   └── IntegrityError(ValueError)        what came is not what was sent
    ├── DecodeError(ValueError)    bytes are no image that can be decoded within the limits
    ├── TransformError(ValueError) a transform was given an image that it does not take
    ├── SchemaError(TypeError)     a class or a schema that cannot be one of samples
    ├── SampleError(ValueError)    a value or bytes that do not fit their schema
    ├── LensError(TypeError)       a lens that cannot be made, found or used backwards
    └── ShardError                 a shard, or a sample in it, is not as it should be
        └── MissingShardError(FileNotFoundError)   there is no shard of that name

Exceptions of a user's own code are never wrapped: they arrive with their type and traceback, and a note
that says which item, batch and worker.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "CancelledError",
    "ClosedError",
    "DecodeError",
    "FetchTimeoutError",
    "HeadraceError",
    "IntegrityError",
    "ItemTooLargeError",
    "LensError",
    "MissingShardError",
    "NotFoundError",
    "PermissionDeniedError",
    "SampleError",
    "SamplerError",
    "SchemaError",
    "ServerError",
    "ShardError",
    "SourceError",
    "StateError",
    "ThrottledError",
    "TransformError",
    "TransportError",
]


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


class CancelledError(HeadraceError):
    """A batch was cancelled, or its runtime closed, while someone waited for it."""

    kind = "cancelled"


class SourceError(HeadraceError, OSError):
    """An item could not be fetched.

    Attributes:
        url: Where the item is, without query, user and password; a path or a key for files and objects.
        status: The HTTP status of the last answer, None when there was none.
        attempts: How many attempts were made.
        index: The item's place in its dataset.
    """

    kind = "source"

    def __init__(
        self,
        message: str,
        *,
        url: str | None = None,
        status: int | None = None,
        attempts: int = 0,
        index: int | None = None,
    ) -> None:
        super().__init__(message)
        self.url = url
        self.status = status
        self.attempts = attempts
        self.index = index

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {"url": self.url, "status": self.status, "attempts": self.attempts, "index": self.index}
        return _restore, (type(self), self.args, fields)


def _restore(cls: type[SourceError], args: tuple[Any, ...], fields: dict[str, Any]) -> SourceError:
    return cls(*args, **fields)


class NotFoundError(SourceError, FileNotFoundError):
    """There is no such item: status 404 or 410, no such file or object."""

    kind = "not-found"


class PermissionDeniedError(SourceError, PermissionError):
    """The item may not be read with these credentials: status 401 or 403, or the file system's refusal."""

    kind = "permission"


class ThrottledError(SourceError):
    """The server asks for fewer requests (status 429), also after the retries."""

    kind = "throttled"


class ServerError(SourceError):
    """The server failed (status 408 or 5xx), also after the retries."""

    kind = "server"


class TransportError(SourceError, ConnectionError):
    """No connection, a certificate that does not hold, or a body that stayed short after the retries."""

    kind = "transport"


class FetchTimeoutError(SourceError, TimeoutError):
    """The last attempt ran out of time, or the item's deadline passed."""

    kind = "timeout"


class ItemTooLargeError(SourceError, ValueError):
    """The item is larger than `max_bytes`, or than its cache may hold."""

    kind = "too-large"


class IntegrityError(SourceError, ValueError):
    """What came is not what was sent: a body that does not decode."""

    kind = "integrity"


class DecodeError(HeadraceError, ValueError):
    """Bytes are no image, a damaged one, or one beyond the limits; the message names the format and what is wrong."""

    kind = "decode"


class TransformError(HeadraceError, ValueError):
    """A transform was given an image that it does not take; the message names the step of the chain."""

    kind = "transform"


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


class LensError(HeadraceError, TypeError):
    """A lens cannot be made of what was given, is not known, is known twice, or has no putter."""

    kind = "lens"
