"""The peers of `fetch.py`: each gives the batches of a list of URLs or paths in order, `in_flight` items at once.

    fetch_peers.py PEER WORKLOAD PLACE IN_FLIGHT     one cold and two warm epochs of one peer; one line of JSON

A peer is a function `(items, batch_size, in_flight) -> object to iterate once an epoch`.
"""

import asyncio
import json
import os
import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from typing import Any

EPOCHS = 3

Batches = Iterable[list[bytes]]


def headrace(items: list[str], batch_size: int, in_flight: int) -> Batches:
    """As a user calls it. Files are read by the workers, requests are in flight without one each."""
    from headrace import DataLoader, FileDataset, HttpDataset

    if not items[0].startswith("http"):
        return DataLoader(FileDataset(items), batch_size, num_workers=in_flight)
    workers = max(1, in_flight // batch_size)
    return DataLoader(HttpDataset(items), batch_size, num_workers=workers, item_concurrency=in_flight // workers)


def headrace_aiohttp(items: list[str], batch_size: int, in_flight: int) -> Batches:
    """An `AsyncDataset` over aiohttp."""
    import aiohttp

    from headrace import AsyncDataset, DataLoader

    class Tiles(AsyncDataset):
        session = None

        def __len__(self) -> int:
            return len(items)

        async def __getitem__(self, index: int) -> bytes:
            if self.session is None:
                self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
            async with self.session.get(items[index]) as response:
                return await response.read()

        async def aclose(self) -> None:
            if self.session is not None:
                await self.session.close()

    workers = max(1, in_flight // batch_size)
    return DataLoader(Tiles(), batch_size, num_workers=workers, item_concurrency=in_flight // workers)


class ByHand:
    """aiohttp without a loader: a semaphore, a thread with a loop, a queue of batches."""

    def __init__(self, items: list[str], batch_size: int, in_flight: int) -> None:
        self.items, self.batch_size, self.in_flight = items, batch_size, in_flight

    def __iter__(self) -> Iterator[list[bytes]]:
        batches: queue.Queue[list[bytes] | None] = queue.Queue()
        threading.Thread(target=lambda: asyncio.run(self.run(batches)), daemon=True).start()
        while (batch := batches.get()) is not None:
            yield batch

    async def run(self, batches: "queue.Queue[list[bytes] | None]") -> None:
        import aiohttp

        permits = asyncio.Semaphore(self.in_flight)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def get(url: str) -> bytes:
                async with permits, session.get(url) as response:
                    return await response.read()

            tasks = [asyncio.ensure_future(get(url)) for url in self.items]
            for start in range(0, len(tasks), self.batch_size):
                batches.put(await asyncio.gather(*tasks[start : start + self.batch_size]))
        batches.put(None)


class Requests:
    """A plain dataset over requests, a session for each thread or process."""

    def __init__(self, items: list[str]) -> None:
        self.items = items
        self.session: Any = None

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> bytes:
        if self.session is None:
            import requests

            self.session = requests.Session()
        data: bytes = self.session.get(self.items[index]).content
        return data


def dataloader_rs(items: list[str], batch_size: int, in_flight: int) -> Batches:
    """Its threads over requests, a session each: the release on the index has no native datasets."""
    from dataloader_rs import PyDataloader, PyDataset

    local = threading.local()

    class Tiles(PyDataset):
        def __len__(self) -> int:
            return len(items)

        def __getitem__(self, index: int) -> bytes:
            if not hasattr(local, "dataset"):
                local.dataset = Requests(items)
            data: bytes = local.dataset[index]
            return data

    workers = max(1, in_flight // batch_size)
    return PyDataloader(Tiles(), batch_size=batch_size, num_workers=workers, items_in_parallel=in_flight // workers)


def torch_requests(items: list[str], batch_size: int, in_flight: int) -> Batches:
    """16 worker processes, one request each: torch has no way to have more in flight."""
    from torch.utils.data import DataLoader

    workers = min(16, in_flight)
    return DataLoader(Requests(items), batch_size, num_workers=workers, collate_fn=list, persistent_workers=True)


def spdl(items: list[str], batch_size: int, in_flight: int) -> Batches:
    """A pipeline with an asynchronous stage."""
    from spdl.pipeline import PipelineBuilder

    class Pipeline:
        def __iter__(self) -> Iterator[list[bytes]]:
            import aiohttp

            session: list[Any] = []

            async def get(url: str) -> bytes:
                if not session:
                    session.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
                async with session[0].get(url) as response:
                    data: bytes = await response.read()
                    return data

            builder = PipelineBuilder().add_source(items).pipe(get, concurrency=in_flight, output_order="input")
            pipeline = builder.aggregate(batch_size).add_sink(4).build(num_threads=2)
            with pipeline.auto_stop():
                yield from pipeline

    return Pipeline()


class Pool:
    """The standard library's thread pool over `open().read()`, a batch a task."""

    def __init__(self, items: list[str], batch_size: int, in_flight: int) -> None:
        self.items, self.batch_size, self.depth = items, batch_size, 2 * in_flight
        self.pool = ThreadPoolExecutor(in_flight)

    def read(self, start: int) -> list[bytes]:
        batch = []
        for path in self.items[start : start + self.batch_size]:
            with open(path, "rb") as file:
                batch.append(file.read())
        return batch

    def __iter__(self) -> Iterator[list[bytes]]:
        waiting: deque[Future[list[bytes]]] = deque()
        for start in range(0, len(self.items), self.batch_size):
            waiting.append(self.pool.submit(self.read, start))
            if len(waiting) == self.depth:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


PEERS: dict[str, dict[str, Callable[[list[str], int, int], Batches]]] = {
    "http": {
        "headrace": headrace,
        "headrace + aiohttp": headrace_aiohttp,
        "aiohttp by hand": ByHand,
        "dataloader-rs + requests": dataloader_rs,
        "SPDL + aiohttp": spdl,
        "torch + requests": torch_requests,
    },
    "files": {"headrace": headrace, "thread pool": Pool},
}


def main() -> None:
    """Times one peer in this process; a new loader each epoch, its making included."""
    peer, name, place, in_flight = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    workload = import_module(f"workloads.{name}")
    make = PEERS[name][peer]
    epochs = []
    for _ in range(EPOCHS):
        cpu, start = time.process_time(), time.perf_counter()
        items, number, first_s = workload.items(place), 0, 0.0
        for batch in make(items, workload.BATCH_SIZE, in_flight):
            first_s = first_s or time.perf_counter() - start
            for item in batch:
                workload.check(number, item)
                number += 1
        epochs.append({"s": time.perf_counter() - start, "cpu_s": time.process_time() - cpu, "first_s": first_s})
        if number != workload.COUNT:
            sys.exit(f"{peer} gave {number} items of {workload.COUNT}")
    print(json.dumps(epochs[1:]), flush=True)
    os._exit(0)  # a peer that aborts when its threads outlive the interpreter was measured all the same


if __name__ == "__main__":
    main()
