"""Small files in the page cache; run by `fetch.py`."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COUNT = 20_000
SIZE_BYTES = 10_240
BATCH_SIZE = 64


@contextmanager
def place() -> Iterator[str]:
    """Writes the files, which leaves them in the page cache; gives their folder."""
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        for index in range(COUNT):
            (Path(folder) / f"{index:05d}").write_bytes((b"%08x" % index) * (SIZE_BYTES // 8))
        yield folder


def items(place: str) -> list[str]:
    """Where each item is."""
    return [f"{place}/{index:05d}" for index in range(COUNT)]


def check(index: int, item: bytes) -> None:
    """Exits unless `item` is whole and the one that was asked for."""
    if len(item) != SIZE_BYTES or int(item[:8], 16) != index:
        sys.exit(f"item {index} is not what was written")
