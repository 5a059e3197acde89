"""`headrace demo --network`: the digits over HTTP, from a server 10 ms away, with more and more requests in flight."""

import contextlib
import io
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from headrace import DataLoader, HttpDataset
from headrace.cli.demo.digits import Batch, Digit, collate

LATENCY_MS = 10
IN_FLIGHT = (1, 4, 16, 64)
BATCH_SIZE = 32


class Row(NamedTuple):
    """One epoch: `item_concurrency`, its seconds, and its digits a second."""

    item_concurrency: int
    seconds: float
    digits_per_s: float


@contextlib.contextmanager
def server(folder: Path, latency_ms: float = LATENCY_MS) -> Iterator[str]:
    """Serves the files of `folder` from a process of its own; gives the base URL."""
    command = [sys.executable, "-m", "headrace.cli.demo.digit_server", str(folder), str(latency_ms)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            port = process.stdout.readline().strip()
            if not port:
                raise RuntimeError("the digits' server did not start")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.stdin.close()


def measure(base: str, paths: Sequence[Path], in_flight: Sequence[int] = IN_FLIGHT) -> list[Row]:
    """Loads the same digits once for each number of requests in flight.

    Raises:
        RuntimeError: an epoch was not, value for value, the first one.
    """
    labels = [int(path.name.partition("_")[0]) for path in paths]

    def decode(index: int, png: bytes) -> Digit:
        with Image.open(io.BytesIO(png)) as image:
            return Digit(np.asarray(image, dtype=np.float32) / np.float32(255), labels[index])

    dataset = HttpDataset([f"{base}/{path.name}" for path in paths])
    rows, first = [], None
    for item_concurrency in in_flight:
        loader: DataLoader[Batch] = DataLoader(
            dataset,
            batch_size=BATCH_SIZE,
            num_workers=1,
            item_concurrency=item_concurrency,
            transform=decode,
            collate_fn=collate,
        )
        with loader:
            start = time.perf_counter()
            batches = list(loader)
            seconds = time.perf_counter() - start
        pixels = np.concatenate([batch.pixels for batch in batches])
        first = pixels if first is None else first
        if not np.array_equal(pixels, first):
            raise RuntimeError(f"item_concurrency={item_concurrency} gave other digits than {in_flight[0]}")
        rows.append(Row(item_concurrency, seconds, len(paths) / seconds))
    return rows


def table(rows: Sequence[Row], latency_ms: float = LATENCY_MS) -> str:
    """The rows for people, and one sentence that says what they mean."""
    lines = ["item_concurrency   seconds   digits/s   times as fast"]
    for row in rows:
        times = rows[0].seconds / row.seconds
        lines.append(f"{row.item_concurrency:16d}   {row.seconds:7.2f}   {row.digits_per_s:8,.0f}   {times:13.1f}")
    best = max(rows, key=lambda row: row.digits_per_s)
    lines.append(
        f"Every digit is {latency_ms:g} ms away: one request at a time spends its time waiting, "
        f"{best.item_concurrency} in flight wait together and load the same digits "
        f"{rows[0].seconds / best.seconds:.0f} times as fast."
    )
    return "\n".join(lines)


def show(folder: Path, paths: Sequence[Path]) -> None:
    """Serves, measures and prints."""
    with server(folder) as base:
        print(f"{len(paths)} digits over HTTP, {LATENCY_MS} ms each, batches of {BATCH_SIZE}, one worker:")
        print(table(measure(base, paths)))
