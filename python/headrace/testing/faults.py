"""What a server may answer, right or wrong: replies for `headrace.testing.fault_server.FaultServer`.

A `Reply` is one answer to one request. Its fields are independent of each other, so any two faults can be combined
with `dataclasses.replace`; the functions below name the common ones.

Example:
    >>> from headrace.testing.faults import cut, status
    >>> cut(3)
    Reply(stop='close', stop_at=3)
    >>> status(429, retry_after=2).headers
    {'Retry-After': '2'}
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Literal

__all__ = ["Reply", "bomb", "cut", "drip", "encode", "redirect", "reset", "stall", "status"]

Framing = Literal["length", "close", "chunked"]
Stop = Literal["close", "reset", "stall"]
Ranges = Literal["honour", "blind", "ignore", "shift"]
Coding = Literal["gzip", "deflate", "br", "zstd"]


@dataclass(frozen=True, slots=True, repr=False)
class Reply:
    """One answer to one request. Without arguments: the content of the path, as it should be.

    Args:
        status: The status of the head. A 200 becomes 206 or 416 where the request asks for a range.
        headers: Further headers; one given here replaces the server's own of that name.
        body: The content, instead of what the path holds.
        etag: The entity tag, quoted (`'"1"'`, or weak: `'W/"1"'`), instead of what the path has.
        framing: How the end of the body is told: by `Content-Length`, by closing the connection, or in chunks.
        announced: A `Content-Length` other than the true one.
        coding: Encode the body so (`Content-Encoding`), whatever the request accepts.
        stop: End the reply early, by closing the connection (FIN), by resetting it (RST), or by saying nothing more.
        stop_at: How many bytes of the body go out before `stop`; `None`: not even the head.
        latency_s: Seconds from the request to the head.
        drip_bytes: Send the body in pieces of that many bytes,
        drip_s: and wait that many seconds before each.
        ranges: `"honour"` follows RFC 9110; `"blind"` gives the range whatever `If-Range` says; `"ignore"` gives the
            whole with status 200; `"shift"` gives the range with a `Content-Range` that is off by one.
        hang_up: Close the connection after the reply without having said so.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    etag: str | None = None
    framing: Framing = "length"
    announced: int | None = None
    coding: Coding | None = None
    stop: Stop | None = None
    stop_at: int | None = None
    latency_s: float = 0.0
    drip_bytes: int | None = None
    drip_s: float = 0.0
    ranges: Ranges = "honour"
    hang_up: bool = False

    def __repr__(self) -> str:
        usual = Reply()
        told = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if _differs(self, usual, f.name))
        return f"Reply({', '.join(told)})"


def status(code: int, *, retry_after: int | datetime | None = None, body: bytes = b"") -> Reply:
    """Answer with a status, and perhaps with `Retry-After` in seconds or as an HTTP date."""
    if retry_after is None:
        return Reply(code, body=body)
    if isinstance(retry_after, datetime):
        return Reply(code, {"Retry-After": format_datetime(retry_after.astimezone(UTC), usegmt=True)}, body)
    return Reply(code, {"Retry-After": str(retry_after)}, body)


def reset(at: int | None = None) -> Reply:
    """Reset the connection after `at` bytes of the body; `None`: before the head."""
    return Reply(stop="reset", stop_at=at)


def cut(at: int | None = None, *, announced: int | None = None, framing: Framing = "length") -> Reply:
    """Close the connection after `at` bytes of the body, which is announced whole unless `announced` lies."""
    return Reply(stop="close", stop_at=at, announced=announced, framing=framing)


def stall(at: int | None = None) -> Reply:
    """Say nothing more after `at` bytes of the body (`None`: not even the head), and keep the connection open."""
    return Reply(stop="stall", stop_at=at)


def drip(drip_bytes: int, drip_s: float) -> Reply:
    """Send the body in small pieces with a wait before each."""
    return Reply(drip_bytes=drip_bytes, drip_s=drip_s)


def redirect(location: str, code: int = 302) -> Reply:
    """Send the client elsewhere."""
    return Reply(code, {"Location": location}, b"")


def bomb(size_bytes: int) -> Reply:
    """A gzip body about a thousand times smaller than the `size_bytes` zeros that it decodes to."""
    return Reply(headers={"Content-Encoding": "gzip"}, body=_gzip_of_zeros(size_bytes), ranges="ignore")


def encode(coding: Coding, data: bytes) -> bytes:
    """`data` in a content coding of RFC 9110.

    `br` (RFC 7932) and `zstd` (RFC 8878) are written as stored blocks: valid, and no smaller than `data`.
    """
    if coding == "gzip":
        return _deflate(data, zlib.MAX_WBITS | 16)
    if coding == "deflate":
        return _deflate(data, zlib.MAX_WBITS)
    return _brotli_stored(data) if coding == "br" else _zstd_stored(data)


def _differs(reply: Reply, usual: Reply, name: str) -> bool:
    return bool(getattr(reply, name) != getattr(usual, name))


def _deflate(data: bytes, window_bits: int) -> bytes:
    compressor = zlib.compressobj(wbits=window_bits)
    return compressor.compress(data) + compressor.flush()


def _gzip_of_zeros(size_bytes: int) -> bytes:
    compressor = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    block = bytes(1 << 20)
    blocks, rest = divmod(size_bytes, len(block))
    parts = [compressor.compress(block) for _ in range(blocks)]
    return b"".join([*parts, compressor.compress(bytes(rest)), compressor.flush()])


def _brotli_stored(data: bytes) -> bytes:
    # WBITS=16 is the one bit 0. A stored meta-block of n bytes is: ISLAST=0, MNIBBLES=4 (two bits 00), n-1 in 16 bits,
    # ISUNCOMPRESSED=1, bits up to the next byte, the bytes. The end is ISLAST=1, ISLASTEMPTY=1. Bits fill bytes from
    # the low end; after a stored block the stream stands at a byte's boundary.
    out, start_bits = bytearray(), 1
    for start in range(0, len(data), 1 << 16):
        block = data[start : start + (1 << 16)]
        head = (len(block) - 1) << 3 | 1 << 19
        out += (head << start_bits).to_bytes((20 + start_bits + 7) // 8, "little") + block
        start_bits = 0
    return bytes(out) + bytes([0b11 << start_bits])


def _zstd_stored(data: bytes) -> bytes:
    # Magic, descriptor 0 (no content size, no checksum), window descriptor of 128 KiB, then raw blocks whose 3-byte
    # head holds: last block (1 bit), type raw (2 bits), size (21 bits).
    out, size_most = bytearray(b"\x28\xb5\x2f\xfd\x00\x38"), 1 << 17
    starts = range(0, max(len(data), 1), size_most)
    for start in starts:
        block = data[start : start + size_most]
        out += (int(start == starts[-1]) | len(block) << 3).to_bytes(3, "little") + block
    return bytes(out)
