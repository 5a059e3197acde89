"""A small HTTP proxy: CONNECT tunnels, and plain requests with an absolute URL."""

import socket
import socketserver
import threading

import pytest


class Proxy(socketserver.ThreadingTCPServer):
    """Records the first line of every request; resolves every name to 127.0.0.1."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lines = []
        self.heads = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(socketserver.BaseRequestHandler):
    def handle(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            piece = self.request.recv(65536)
            if not piece:
                return
            head += piece
        line = head.split(b"\r\n")[0].decode()
        self.server.heads.append(head.decode("latin-1"))
        self.server.lines.append(line)
        method, target, _ = line.split(" ")
        if method == "CONNECT":
            port = int(target.rpartition(":")[2])
            beyond = socket.create_connection(("127.0.0.1", port))
            self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            authority, _, path = target.removeprefix("http://").partition("/")
            beyond = socket.create_connection(("127.0.0.1", int(authority.rpartition(":")[2])))
            rest = head.split(b"\r\n", 1)[1]
            beyond.sendall(f"{method} /{path} HTTP/1.1\r\n".encode() + rest)
        with beyond:
            back = threading.Thread(target=_copy, args=(beyond, self.request), daemon=True)
            back.start()
            _copy(self.request, beyond)
            back.join()


def _copy(source, sink):
    try:
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side left


@pytest.fixture
def proxy():
    with Proxy() as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield proxy
        proxy.shutdown()
        thread.join()
