"""The fault server does to a socket what it says: the tests of the sources stand on it."""

import contextlib
import gzip
import http.client
import socket
import ssl
import threading
import zlib
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.testing.fault_server import FaultServer
from headrace.testing.faults import Reply, bomb, cut, drip, encode, redirect, reset, stall, status

BODY = bytes(range(64))


@pytest.fixture
def server():
    with FaultServer() as server:
        yield server


def get(server, path, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


def raw(server, path, headers=""):
    """Every byte that comes, and how it ended."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n".encode())
        received = b""
        try:
            while piece := connection.recv(65536):
                received += piece
        except ConnectionResetError:
            return received, "reset"
        return received, "closed"


def body_of(received):
    return received.partition(b"\r\n\r\n")[2]


def test_replies_come_in_turn_and_then_the_content(server):
    server.serve("/a", BODY, replies=[status(503, retry_after=2), status(429)])
    assert [get(server, "/a")[0] for _ in range(4)] == [503, 429, 200, 200]
    assert get(server, "/a")[2] == BODY
    assert server.count("/a") == 5


def test_an_unknown_path_is_404_or_what_the_default_says():
    with FaultServer() as server:
        assert get(server, "/nothing")[0] == 404
    with FaultServer(default=lambda request: Reply(body=request.target.encode())) as server:
        assert get(server, "/a%20b?c=d")[2] == b"/a%20b?c=d"


def test_requests_are_recorded(server):
    server.serve("/a", BODY)
    get(server, "/a?x=1", {"X-One": "1"})
    [request] = server.requests
    assert (request.method, request.target, request.path) == ("GET", "/a?x=1", "/a")
    assert request.headers["x-one"] == "1"


@pytest.mark.parametrize("at", [None, 0, 1, 63, 64])
@pytest.mark.parametrize("fault, end", [(reset, "reset"), (cut, "closed")])
def test_a_body_ends_early(server, fault, end, at):
    server.serve("/a", BODY, then=fault(at))
    received, how = raw(server, "/a")
    assert how == end
    assert body_of(received) == BODY[: at or 0]
    assert (b"Content-Length: 64" in received) == (at is not None)


def test_a_cut_chunk_announces_what_it_does_not_hold(server):
    server.serve("/a", BODY, then=cut(10, framing="chunked"))
    assert body_of(raw(server, "/a")[0]) == b"40\r\n" + BODY[:10]
    server.serve("/a", BODY, then=cut(64, framing="chunked"))
    assert body_of(raw(server, "/a")[0]) == b"40\r\n" + BODY + b"\r\n"


def test_a_whole_body_in_chunks_and_until_the_end(server):
    server.serve("/chunks", BODY * 200, then=Reply(framing="chunked"))
    server.serve("/close", BODY, then=Reply(framing="close"))
    assert get(server, "/chunks")[2] == BODY * 200
    status_, headers, body = get(server, "/close")
    assert (status_, body) == (200, BODY)
    assert "Content-Length" not in headers


def test_a_length_lies(server):
    server.serve("/a", BODY, then=cut(64, announced=10))
    received, _ = raw(server, "/a")
    assert b"Content-Length: 10\r\n" in received
    assert body_of(received) == BODY


def test_a_stall_lasts_until_the_client_leaves(server):
    server.serve("/a", BODY, then=stall(5))
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(b"GET /a HTTP/1.1\r\n\r\n")
        received = b""
        while not received.endswith(BODY[:5]):
            received += connection.recv(65536)
        assert server.at_once == 1
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(1)


def test_close_ends_stalled_conversations():
    with FaultServer() as server:
        server.serve("/a", then=stall())
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        connection.sendall(b"GET /a HTTP/1.1\r\n\r\n")
        while not server.at_once:
            pass
    with connection, contextlib.suppress(ConnectionResetError):
        assert connection.recv(1) == b""
    assert not any(thread.name == "headrace-fault-server" for thread in threading.enumerate())


def test_ranges(server):
    server.serve("/a", BODY, etag='"1"')
    status_, headers, body = get(server, "/a", {"Range": "bytes=10-", "If-Range": '"1"'})
    assert (status_, headers["Content-Range"], body) == (206, "bytes 10-63/64", BODY[10:])
    assert get(server, "/a", {"Range": "bytes=10-19"})[2] == BODY[10:20]
    assert get(server, "/a", {"Range": "bytes=10-", "If-Range": '"2"'})[::2] == (200, BODY)
    assert get(server, "/a", {"Range": "bytes=64-"})[0] == 416
    server.serve("/weak", BODY, etag='W/"1"')
    assert get(server, "/weak", {"Range": "bytes=10-", "If-Range": 'W/"1"'})[0] == 200


@pytest.mark.parametrize(
    "ranges, expected",
    [
        ("ignore", (200, None, BODY)),
        ("blind", (206, "bytes 3-63/64", BODY[3:])),
        ("shift", (206, "bytes 4-63/64", BODY[3:])),
    ],
)
def test_ranges_gone_wrong(server, ranges, expected):
    server.serve("/a", BODY, etag='"1"', then=Reply(ranges=ranges))
    asked = {"Range": "bytes=3-", "If-Range": '"1"' if ranges == "shift" else '"other"'}
    status_, headers, body = get(server, "/a", asked)
    assert (status_, headers.get("Content-Range"), body) == expected


def test_retry_after_as_a_date(server):
    assert status(503, retry_after=datetime(1999, 12, 31, 23, 59, 59, tzinfo=UTC)).headers == {
        "Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"
    }


def test_redirects_and_headers(server):
    server.serve("/from", then=redirect("/to", 307))
    server.serve("/huge", BODY, then=Reply(headers={"X-Huge": "x" * 60_000}))
    status_, headers, _ = get(server, "/from")
    assert (status_, headers["Location"]) == (307, "/to")
    assert f"X-Huge: {'x' * 60_000}\r\n".encode() in raw(server, "/huge")[0]


def test_a_drip_is_whole(server):
    server.serve("/a", BODY, then=drip(7, 0.001))
    assert get(server, "/a")[2] == BODY


def test_hang_up_closes_what_it_said_to_keep(server):
    server.serve("/a", BODY, then=Reply(hang_up=True))
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(b"GET /a HTTP/1.1\r\n\r\n")
        received = b""
        while piece := connection.recv(65536):
            received += piece
    assert body_of(received) == BODY


def test_connections_are_kept_and_counted(server):
    server.serve("/a", BODY)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    for _ in range(3):
        connection.request("GET", "/a")
        assert connection.getresponse().read() == BODY
    assert {request.connection for request in server.requests} == {0}
    assert (server.most_connections, server.most_at_once) == (1, 1)
    connection.close()


def first_of_two(server):
    first = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    first.request("GET", "/a")
    assert first.getresponse().read() == BODY
    return first


def test_surplus_connections_wait():
    with FaultServer(max_connections=1) as server:
        server.serve("/a", BODY)
        first = first_of_two(server)
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as second:
            second.sendall(b"GET /a HTTP/1.1\r\nConnection: close\r\n\r\n")
            first.close()
            received = b""
            while piece := second.recv(65536):
                received += piece
        assert body_of(received) == BODY
        assert server.most_connections == 1


def test_surplus_connections_are_reset():
    with FaultServer(max_connections=1, surplus="reset") as server:
        server.serve("/a", BODY)
        first = first_of_two(server)
        with (  # the reset may come while connecting, or after
            pytest.raises(ConnectionResetError),
            socket.create_connection(("127.0.0.1", server.port), timeout=30) as second,
        ):
            second.recv(1)
        first.close()
        assert server.most_connections == 1


def test_ipv6():
    with FaultServer(host="::1") as server:
        assert server.origin == f"http://[::1]:{server.port}"
        with socket.create_connection(("::1", server.port), timeout=30) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert connection.recv(12) == b"HTTP/1.1 404"


def test_tls(authority):
    with FaultServer(tls=authority.server_context("127.0.0.1")) as server:
        server.serve("/a", BODY)
        context = ssl.create_default_context(cafile=authority.bundle)
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=30, context=context)
        connection.request("GET", "/a")
        assert connection.getresponse().read() == BODY
        connection.close()
        with pytest.raises(ssl.SSLCertVerificationError):
            stranger = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=30)
            stranger.request("GET", "/a")
        stranger.close()


@given(st.binary(max_size=200))
def test_codings_decode(data):
    assert gzip.decompress(encode("gzip", data)) == data
    assert zlib.decompress(encode("deflate", data)) == data


@pytest.mark.parametrize("size", [0, 1, 1000, 1 << 16, (1 << 16) + 1, 1 << 17, (1 << 17) + 1, 300_000])
def test_stored_codings_decode(size):
    data = bytes(i * 7 % 251 for i in range(size))
    brotli, zstandard = pytest.importorskip("brotli"), pytest.importorskip("zstandard")
    assert brotli.decompress(encode("br", data)) == data
    assert zstandard.ZstdDecompressor().decompressobj().decompress(encode("zstd", data)) == data


def test_a_bomb_is_small_and_decodes_to_zeros():
    reply = bomb(3_000_001)
    assert len(reply.body) < 10_000
    assert gzip.decompress(reply.body) == bytes(3_000_001)


def test_replies_combine_and_show_what_they_change():
    assert repr(replace(cut(3), coding="gzip")) == "Reply(coding='gzip', stop='close', stop_at=3)"
