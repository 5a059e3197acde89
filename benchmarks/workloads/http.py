"""Tiles over HTTP from a server whose only cost is its latency; run by `fetch.py`."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COUNT = 2_048
SIZE_BYTES = 65_536
LATENCY_MS = 10
BATCH_SIZE = 64


@contextmanager
def place() -> Iterator[str]:
    """Compiles and runs the server; gives its base URL."""
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        program = Path(folder) / "tile_server"
        source = Path(__file__).resolve().parent.parent / "tile_server.c"
        subprocess.run(["cc", "-O2", "-o", program, source], check=True)
        command = [program, "0", str(LATENCY_MS), str(SIZE_BYTES)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                yield f"http://127.0.0.1:{int(server.stdout.readline())}"
            finally:
                server.terminate()


def items(place: str) -> list[str]:
    """Where each item is."""
    return [f"{place}/{index}" for index in range(COUNT)]


def check(index: int, item: bytes) -> None:
    """Exits unless `item` is whole and the one that was asked for."""
    if len(item) != SIZE_BYTES or int(item[:8], 16) != index:
        sys.exit(f"item {index} is not what the server sent")
