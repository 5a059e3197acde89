"""Datasets that the tests of async loading share."""

import asyncio
import queue
import threading

from headrace import AsyncDataset, MapDataset


class Items(AsyncDataset):
    """Item `i` is `10 * i`, after a few turns of the loop that shuffle the order in which items are ready."""

    def __init__(self, n=50):
        super().__init__()
        self.n = n
        self.running = self.most = self.closed = 0
        self.cancelled = []
        self.loops = set()

    def __len__(self):
        return self.n

    async def __getitem__(self, index):
        self.loops.add(asyncio.get_running_loop())
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            for _ in range(index * 7 % 5):
                await asyncio.sleep(0)
            return await self.item(index)
        finally:
            self.running -= 1

    async def item(self, index):
        return 10 * index

    async def aclose(self):
        self.closed += 1


class Gate(Items):
    """Items from `closed_at` on wait until `opened`; `held` counts those that do."""

    def __init__(self, n=64, closed_at=0):
        super().__init__(n)
        self.closed_at = closed_at
        self.opened = threading.Event()
        self.held = queue.SimpleQueue()

    async def item(self, index):
        if index >= self.closed_at:
            self.held.put(index)
            try:
                while not self.opened.is_set():
                    await asyncio.sleep(0.001)
            except asyncio.CancelledError:
                self.cancelled.append(index)
                raise
        return 10 * index


class Plain(MapDataset):
    def __init__(self, n=50):
        super().__init__()
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return 10 * index


def loader_threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("headrace")}


def ended(threads):
    for thread in threads:
        thread.join(30)
    return not any(thread.is_alive() for thread in threads)


def flat(batches):
    return [item for batch in batches for item in batch]
