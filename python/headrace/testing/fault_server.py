"""A real HTTP/1.1 server on loopback that misbehaves as told.

It speaks over real sockets, so a client under test sees what a bad network shows: resets, stalls, bodies that end too
early, lengths that lie. Every request is recorded.

Example:
    >>> from urllib.request import urlopen
    >>> from headrace.testing.fault_server import FaultServer
    >>> from headrace.testing.faults import status
    >>> with FaultServer() as server:
    ...     url = server.serve("/a", b"content", replies=[status(503)])
    ...     try:
    ...         urlopen(url)
    ...     except OSError as error:
    ...         print(error)
    ...     urlopen(url).read(), server.count("/a")
    HTTP Error 503: Service Unavailable
    (b'content', 2)
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import quote

from headrace.testing.faults import Reply, encode

__all__ = ["FaultServer", "Request"]

_HEAD_BYTES_MOST = 1 << 20
_CHUNK_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived.

    Attributes:
        method: As sent.
        target: As sent: path and query, still encoded (or an absolute URL, when the client takes this for a proxy).
        headers: By name in lower case; the values of a repeated header are joined by `", "`.
        at_s: When its head was complete, on `time.monotonic()`'s clock.
        connection: The number of its connection, from 0 in the order of their acceptance.
    """

    method: str
    target: str
    headers: dict[str, str]
    at_s: float
    connection: int

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]


@dataclass(slots=True)
class _Content:
    body: bytes
    etag: str | None
    replies: Iterator[Reply]
    then: Reply


class FaultServer:
    """An HTTP server on its own thread; use it in a `with` block.

    All methods and properties may be used from any thread.

    Args:
        host: The address to listen at: `"127.0.0.1"`, or `"::1"`.
        default: What answers a path that `serve` does not know; without it, 404.
        latency_s: Seconds from each request to its head, besides the reply's own.
        tls: A server-side context: then the server speaks HTTPS.
        max_connections: The most connections open at once; what happens to more of them says
        surplus: `"wait"` leaves them in the system's queue, `"reset"` resets them.
        name: The host to put into URLs, where it differs from `host`.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        default: Callable[[Request], Reply] | None = None,
        latency_s: float = 0.0,
        tls: ssl.SSLContext | None = None,
        max_connections: int | None = None,
        surplus: Literal["wait", "reset"] = "wait",
        name: str | None = None,
    ) -> None:
        self._host, self._name = host, name or host
        self._default, self._latency_s, self._tls = default, latency_s, tls
        self._max_connections, self._surplus = max_connections, surplus
        self._contents: dict[str, _Content] = {}
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._open = self._accepted = self._active = self._most_active = self._most_open = 0
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listening = socket.create_server((host, 0), family=family, backlog=4096)
        self._listening.setblocking(False)
        self._port: int = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._run, name="headrace-fault-server", daemon=True)

    # What the server holds.

    def serve(
        self,
        path: str,
        body: bytes = b"",
        *,
        etag: str | None = None,
        replies: Iterable[Reply] = (),
        then: Reply | None = None,
    ) -> str:
        """Put content at a path, replacing what was there.

        Args:
            path: The path, as clients will send it, without a query.
            body: The content.
            etag: Its entity tag, quoted; without one, no `ETag` is sent.
            replies: What the first requests get, one each; may be endless.
            then: What all later requests get; without it, the content.

        Returns:
            The URL of the path.
        """
        content = _Content(body, etag, iter(replies), Reply() if then is None else then)
        with self._lock:
            self._contents[path] = content
        return self.url(path)

    def url(self, path: str) -> str:
        """The URL of a path (or of a path and a query)."""
        return f"{self.origin}{path}"

    @property
    def origin(self) -> str:
        """Scheme, host and port: `"http://127.0.0.1:41234"`."""
        host = f"[{self._name}]" if ":" in self._name else quote(self._name)
        return f"http{'s' if self._tls else ''}://{host}:{self._port}"

    @property
    def port(self) -> int:
        """The port that the server listens at."""
        return self._port

    # What the server saw.

    @property
    def requests(self) -> list[Request]:
        """The requests so far, in the order of their arrival."""
        with self._lock:
            return list(self._requests)

    def requests_of(self, path: str) -> list[Request]:
        """The requests of a path so far."""
        return [request for request in self.requests if request.path == path]

    def count(self, path: str) -> int:
        """How many requests of a path came."""
        return len(self.requests_of(path))

    @property
    def most_at_once(self) -> int:
        """The most requests that were waiting for their answers' ends at one time."""
        return self._most_active

    @property
    def at_once(self) -> int:
        """How many requests wait for their answers' ends now; stalled ones do until the client leaves."""
        return self._active

    @property
    def connections(self) -> int:
        """How many connections are open now."""
        return self._open

    @property
    def most_connections(self) -> int:
        """The most connections that were open at one time."""
        return self._most_open

    # Life.

    def __enter__(self) -> FaultServer:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening, reset every connection and wait for the thread; harmless when repeated."""
        if self._thread.is_alive():
            with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
                self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._listening.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._start(self._accept())
        self._loop.run_forever()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            self._loop.run_until_complete(asyncio.wait(self._tasks))
        self._loop.run_until_complete(asyncio.sleep(0))  # transports close their sockets in the next round
        self._loop.close()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self) -> None:
        room = asyncio.Semaphore(self._max_connections or 1 << 30)
        while True:
            if self._surplus == "wait":
                await room.acquire()
            accepted, _ = await self._loop.sock_accept(self._listening)
            if self._surplus == "reset" and room.locked():
                _linger_not(accepted)
                accepted.close()
                continue
            if self._surplus == "reset":
                await room.acquire()
            self._start(self._converse(accepted, self._accepted, room))
            self._accepted += 1

    async def _converse(self, accepted: socket.socket, connection: int, room: asyncio.Semaphore) -> None:
        self._open += 1
        self._most_open = max(self._most_open, self._open)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader = asyncio.StreamReader(limit=_HEAD_BYTES_MOST)
        protocol = asyncio.StreamReaderProtocol(reader)
        transport: asyncio.Transport | None = None
        try:
            transport, _ = await self._loop.connect_accepted_socket(lambda: protocol, accepted, ssl=self._tls)
            writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
            while await self._exchange(reader, writer, accepted, connection):
                pass
            writer.close()
            await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client left, or refused the certificate
        finally:
            if transport is None:
                accepted.close()
            else:
                transport.abort()
            self._open -= 1
            room.release()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, accepted: socket.socket, connection: int
    ) -> bool:
        """Answer one request; whether the connection goes on."""
        request = _parse(await reader.readuntil(b"\r\n\r\n"), connection)
        with self._lock:
            self._requests.append(request)
        content, reply = self._choose(request)
        self._active += 1
        self._most_active = max(self._most_active, self._active)
        try:
            await asyncio.sleep(self._latency_s + reply.latency_s)
            whole = await self._send(writer, request, content, reply)
            if not whole and reply.stop == "stall":
                await reader.read()  # until the client leaves
            elif not whole and reply.stop == "reset":
                _linger_not(accepted)
                writer.transport.abort()
        finally:
            self._active -= 1
        goes_on = whole and not reply.hang_up and reply.framing != "close"
        return goes_on and request.headers.get("connection", "").lower() != "close"

    def _choose(self, request: Request) -> tuple[_Content, Reply]:
        with self._lock:
            content = self._contents.get(request.path)
            if content is not None:
                return content, next(content.replies, content.then)
        nothing = _Content(b"", None, iter(()), Reply())
        return nothing, Reply(404, body=b"") if self._default is None else self._default(request)

    async def _send(self, writer: asyncio.StreamWriter, request: Request, content: _Content, reply: Reply) -> bool:
        """Send what the reply lets through; whether that is all of it."""
        if reply.stop is not None and reply.stop_at is None:
            return False
        status, headers, body = _compose(request, content, reply)
        lines = [f"HTTP/1.1 {status} {_phrase(status)}", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        if request.method == "HEAD":
            body = b""
        sent = body if reply.stop is None else body[: reply.stop_at]
        step = reply.drip_bytes or (_CHUNK_BYTES if reply.framing == "chunked" else max(len(sent), 1))
        for start in range(0, len(sent), step):
            if reply.drip_s:
                await writer.drain()
                await asyncio.sleep(reply.drip_s)
            piece = sent[start : start + step]
            if reply.framing == "chunked":
                # A chunk announces what it would hold were it not cut.
                size = len(body[start : start + step])
                piece = b"%x\r\n%b%b" % (size, piece, b"\r\n" if len(piece) == size else b"")
            writer.write(piece)
        if reply.framing == "chunked" and reply.stop is None:
            writer.write(b"0\r\n\r\n")
        writer.transport.set_write_buffer_limits(0)  # so that the drain waits until the system has every byte
        await writer.drain()
        return reply.stop is None


def _linger_not(connection: socket.socket) -> None:
    """Make the next close of the socket send RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _parse(head: bytes, connection: int) -> Request:
    first, *rest = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = ([*first.split(" ", 2), "", ""])[:3]
    headers: dict[str, str] = {}
    for line in rest:
        name, _, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Request(method, target, headers, time.monotonic(), connection)


def _compose(request: Request, content: _Content, reply: Reply) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and the whole body of a reply."""
    status, etag = reply.status, reply.etag or content.etag
    body = content.body if reply.body is None else reply.body
    headers: dict[str, str] = {}
    if reply.coding is not None:
        body = encode(reply.coding, body)
        headers["Content-Encoding"] = reply.coding
    if etag is not None:
        headers["ETag"] = etag
    if status == 200:
        headers["Accept-Ranges"] = "none" if reply.ranges == "ignore" else "bytes"
        status, body = _range(request, reply, etag, body, headers)
    if reply.framing == "length":
        headers["Content-Length"] = str(len(body) if reply.announced is None else reply.announced)
    elif reply.framing == "chunked":
        headers["Transfer-Encoding"] = "chunked"
    replaced = {name.lower() for name in reply.headers}
    return status, {name: v for name, v in headers.items() if name.lower() not in replaced} | dict(reply.headers), body


def _range(request: Request, reply: Reply, etag: str | None, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """RFC 9110, section 14, for one range `bytes=first-[last]`."""
    unit, _, spec = request.headers.get("range", "").partition("=")
    first_text, dash, last_text = spec.partition("-")
    condition = request.headers.get("if-range")
    if unit != "bytes" or not dash or not first_text.isdigit() or reply.ranges == "ignore":
        return 200, body
    # Only a strong tag may match: RFC 9110, section 13.1.5.
    if reply.ranges == "honour" and condition is not None and (condition != etag or condition.startswith("W/")):
        return 200, body
    first, last = int(first_text), min(int(last_text or len(body)), len(body) - 1)
    if first >= len(body):
        headers["Content-Range"] = f"bytes */{len(body)}"
        return 416, b""
    told = first + (reply.ranges == "shift")
    headers["Content-Range"] = f"bytes {told}-{last}/{len(body)}"
    return 206, body[first : last + 1]


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
