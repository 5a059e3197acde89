"""HttpDataset against a small server."""

import gzip
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from headrace import HttpDataset, errors

Answer = Callable[[BaseHTTPRequestHandler, int], None]


class Server:
    """Answers by path; counts the requests for each, and keeps their headers."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.seen: dict[str, list[dict[str, str]]] = {}
        lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = self.path.split("?")[0]
                with lock:
                    requests = outer.seen.setdefault(path, [])
                    requests.append({name.lower(): value for name, value in self.headers.items()})
                    count = len(requests)
                outer.answers.get(path, missing)(self, count)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def reply(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    headers.setdefault("Content_Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def missing(handler: BaseHTTPRequestHandler, _: int) -> None:
    reply(handler, 404, b"")


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


def test_items_come_in_order_and_by_index(server: Server) -> None:
    for n in range(200):
        server.answers[f"/{n}"] = lambda handler, _, n=n: reply(handler, 200, b"%d" % n * 100)  # type: ignore[misc]
    dataset = HttpDataset([f"{server.url}/{n}" for n in range(200)])
    assert dataset.fetch(reversed(range(200)), concurrency=16) == [b"%d" % n * 100 for n in reversed(range(200))]
    assert dataset[-1] == dataset[199] == b"199" * 100
    with pytest.raises(IndexError, match="200"):
        dataset[200]
    copy = pickle.loads(pickle.dumps(dataset))
    assert copy[3] == b"3" * 100


@pytest.mark.parametrize(
    ("status", "kind", "also", "attempts"),
    [
        (404, errors.NotFoundError, FileNotFoundError, 1),
        (410, errors.NotFoundError, OSError, 1),
        (401, errors.PermissionDeniedError, PermissionError, 1),
        (403, errors.PermissionDeniedError, PermissionError, 1),
        (400, errors.SourceError, OSError, 1),
        (501, errors.ServerError, OSError, 1),
        (429, errors.ThrottledError, OSError, 3),
        (408, errors.ServerError, OSError, 3),
        (503, errors.ServerError, OSError, 3),
    ],
)
def test_statuses(server: Server, status: int, kind: type[errors.SourceError], also: type, attempts: int) -> None:
    server.answers["/a"] = lambda handler, _: reply(handler, status, b"no")
    url = server.url.replace("//", "//user:password@")
    dataset = HttpDataset([f"{url}/a?token=secret"], retries=2, backoff=0.001)
    with pytest.raises(kind) as caught:
        dataset[0]
    error = caught.value
    assert isinstance(error, also)
    assert (error.url, error.status, error.attempts, error.index) == (f"{server.url}/a", status, attempts, 0)
    assert len(server.seen["/a"]) == attempts
    assert server.seen["/a"][0]["authorization"].startswith("Basic ")
    for text in (str(error), repr(error), repr(dataset), repr(pickle.loads(pickle.dumps(error)))):
        assert not any(secret in text for secret in ("user", "password", "secret", "token"))


@pytest.mark.parametrize("etag", ['"v1"', 'W/"v1"', None])
def test_a_body_cut_anywhere_is_whole_in_the_end(server: Server, etag: str | None) -> None:
    body = bytes(range(40))

    def cut(at: int) -> Answer:
        def answer(handler: BaseHTTPRequestHandler, count: int) -> None:
            headers = {} if etag is None else {"ETag": etag}
            wanted = handler.headers["Range"]
            if count == 1:
                handler.close_connection = True
                reply(handler, 200, body[:at], Content_Length=str(len(body)), **headers)
            elif wanted is None:
                reply(handler, 200, body, **headers)
            else:
                assert handler.headers["If-Range"] == etag
                first = int(wanted.removeprefix("bytes=").removesuffix("-"))
                span = f"bytes {first}-{len(body) - 1}/{len(body)}"
                reply(handler, 206, body[first:], Content_Range=span, **headers)

        return answer

    for at in range(len(body)):
        server.answers[f"/{at}"] = cut(at)
    dataset = HttpDataset([f"{server.url}/{at}" for at in range(len(body))], backoff=0.001)
    assert dataset.fetch(range(len(body))) == [body] * len(body)
    for at in range(1, len(body)):
        wanted = server.seen[f"/{at}"][1].get("range")
        assert wanted == (f"bytes={at}-" if etag == '"v1"' else None)


@pytest.mark.parametrize("span", ["bytes 3-9/10", "bytes 5-9/11", "bytes 5-8/10", "bytes 5-9/*", "none"])
def test_a_range_that_disagrees_is_started_over(server: Server, span: str) -> None:
    def answer(handler: BaseHTTPRequestHandler, count: int) -> None:
        if count == 1:
            handler.close_connection = True
            reply(handler, 200, b"01234", Content_Length="10", ETag='"v"')
        elif handler.headers["Range"]:
            reply(handler, 206, b"xxxxx", Content_Range=span, ETag='"v"')
        else:
            reply(handler, 200, b"0123456789", ETag='"v"')

    server.answers["/a"] = answer
    assert HttpDataset([f"{server.url}/a"], backoff=0.001)[0] == b"0123456789"
    assert len(server.seen["/a"]) == 3


def test_a_body_that_stays_short_is_an_error(server: Server) -> None:
    def answer(handler: BaseHTTPRequestHandler, _: int) -> None:
        handler.close_connection = True
        reply(handler, 200, b"short", Content_Length="100")

    server.answers["/a"] = answer
    with pytest.raises(errors.TransportError, match="expected 100 bytes, found 5") as caught:
        HttpDataset([f"{server.url}/a"], retries=1, backoff=0.001)[0]
    assert caught.value.attempts == 2


def test_headers_stay_in_their_origin(server: Server) -> None:
    other = Server()
    try:
        other.answers["/b"] = lambda handler, _: reply(handler, 302, b"", Location=f"{server.url}/c")
        server.answers["/a"] = lambda handler, _: reply(handler, 302, b"", Location=f"{other.url}/b")
        server.answers["/c"] = lambda handler, _: reply(handler, 200, b"c")
        server.answers["/same"] = lambda handler, _: reply(handler, 307, b"", Location="/c")
        server.answers["/loop"] = lambda handler, _: reply(handler, 307, b"", Location="/loop")
        urls = [f"{server.url}/{name}" for name in ("same", "a", "loop")]
        dataset = HttpDataset(urls, headers={"Authorization": "Bearer x", "X-Mine": "1"})
        assert dataset[0] == b"c"
        assert server.seen["/c"][0]["x-mine"] == "1"
        assert dataset[1] == b"c"
        for request in (other.seen["/b"][0], server.seen["/c"][1]):
            assert not {"authorization", "x-mine"} & set(request)
        with pytest.raises(errors.TransportError, match="more than 10 redirects"):
            dataset[2]
    finally:
        other.close()


def test_limits_hold_before_and_while_reading_and_after_decoding(server: Server) -> None:
    def chunked(handler: BaseHTTPRequestHandler, _: int) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"64\r\n" + b"x" * 100 + b"\r\n0\r\n\r\n")

    server.answers["/announced"] = lambda handler, _: reply(handler, 200, b"x", Content_Length=str(1 << 40))
    server.answers["/chunked"] = chunked
    packed = gzip.compress(b"x" * 100)
    server.answers["/gzip"] = lambda handler, _: reply(handler, 200, packed, Content_Encoding="gzip")
    urls = [f"{server.url}/{name}" for name in ("announced", "chunked", "gzip")]
    small = HttpDataset(urls, max_bytes=99)
    for index in range(3):
        with pytest.raises(errors.ItemTooLargeError, match="max_bytes=99"):
            small[index]
    assert HttpDataset(urls, max_bytes=100).fetch([1, 2]) == [b"x" * 100] * 2
    assert server.seen["/gzip"][0]["accept-encoding"] == "identity"


def test_a_stalled_body_runs_out_of_time_and_a_deadline_bounds_the_item(server: Server) -> None:
    release = threading.Event()

    def stall(handler: BaseHTTPRequestHandler, _: int) -> None:
        handler.close_connection = True
        reply(handler, 200, b"x", Content_Length="10")
        handler.wfile.flush()
        release.wait(30)

    server.answers["/a"] = stall
    server.answers["/busy"] = lambda handler, _: reply(handler, 503, b"", Retry_After="60")
    try:
        with pytest.raises(errors.FetchTimeoutError, match=r"timeout=0\.1") as caught:
            HttpDataset([f"{server.url}/a"], timeout=0.1, retries=1, backoff=0.001)[0]
        assert isinstance(caught.value, TimeoutError)
        assert caught.value.attempts == 2
        with pytest.raises(errors.FetchTimeoutError, match=r"deadline=0\.1"):
            HttpDataset([f"{server.url}/a"], deadline=0.1)[0]
        with pytest.raises(errors.FetchTimeoutError, match="503"):
            HttpDataset([f"{server.url}/busy"], deadline=1, max_backoff=60)[0]
    finally:
        release.set()


def test_a_transient_failure_is_retried_after_what_the_server_asked_up_to_the_limit(server: Server) -> None:
    times: list[float] = []

    def answer(handler: BaseHTTPRequestHandler, count: int) -> None:
        times.append(time.monotonic())
        if count == 1:
            reply(handler, 429, b"", Retry_After="2")
        else:
            reply(handler, 200, b"x")

    server.answers["/a"] = answer
    assert HttpDataset([f"{server.url}/a"], backoff=0.001, max_backoff=0.3)[0] == b"x"
    assert times[1] - times[0] >= 0.3


def test_no_connection(server: Server) -> None:
    with pytest.raises(errors.TransportError, match="no connection") as caught:
        HttpDataset(["http://127.0.0.1:9/a"], retries=1, backoff=0.001)[0]
    assert isinstance(caught.value, ConnectionError)
    assert caught.value.attempts == 2


@pytest.mark.parametrize("url", ["", "h/a", "ftp://h/a", "http://", "file:///etc/passwd", "http://user:pa ss@[h/a"])
def test_urls_are_checked_when_the_dataset_is_made(url: str) -> None:
    with pytest.raises(ValueError, match="expected an http") as caught:
        HttpDataset([url])
    assert "pa ss" not in str(caught.value)


def test_arguments_are_checked() -> None:
    for keywords in ({"retries": -1}, {"timeout": 0}, {"max_bytes": 0}, {"backoff": -1.0}):
        with pytest.raises(ValueError):
            HttpDataset([], **keywords)  # type: ignore[arg-type]
    for keywords in ({"retries": True}, {"timeout": "1"}, {"headers": {"a": 1}}):
        with pytest.raises(TypeError):
            HttpDataset([], **keywords)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError):
        HttpDataset([], cache="somewhere")
    with pytest.raises(TypeError):
        HttpDataset("http://h/")
    for headers in ({"a b": "x"}, {"a": "x\n"}, {"Range": "bytes=0-1"}):
        with pytest.raises(ValueError):
            HttpDataset([], headers=headers)
