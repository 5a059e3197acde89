"""At most `num_workers + prefetch_depth` batches exist ahead of the consumer, and memory does not grow."""

import gc
import sys
import threading
import weakref

import psutil
import pytest

from headrace import DataLoader, MapDataset


class Watched(MapDataset):
    """Counts batches of one item against what was asked for; item 0 waits for `release`."""

    def __init__(self, n, bound):
        super().__init__()
        self.n, self.bound = n, bound
        self.lock = threading.Lock()
        self.started = self.asked = self.largest = 0
        self.release, self.full = threading.Event(), threading.Event()

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        with self.lock:
            self.started += 1
            self.largest = max(self.largest, self.started - self.asked)
            if self.started == self.bound:
                self.full.set()
        if index == 0:
            assert self.release.wait(60)
        threading.Event().wait(0.001)  # as a short read: not so short that one worker is the best number
        return index


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize(
    ("arguments", "bound"),
    [
        ({"num_workers": 1, "prefetch_depth": 1}, 2),
        ({"num_workers": 4}, 6),
        ({"num_workers": 4, "prefetch_depth": 9}, 13),
        ({"num_workers": 2, "prefetch_factor": 3}, 8),
        ({"num_workers": 64}, 66),
    ],
)
def test_a_slow_first_batch_does_not_let_the_others_pile_up(arguments, bound, in_order):
    dataset = Watched(300, bound)
    with DataLoader(dataset, in_order=in_order, **arguments) as loader:
        iterator = iter(loader)
        if arguments["num_workers"] > 1:
            assert dataset.full.wait(20)
        dataset.release.set()
        items = []
        while True:
            with dataset.lock:
                dataset.asked += 1
            batch = next(iterator, None)
            if batch is None:
                break
            items += batch
        assert loader.stats().window is not None
    assert sorted(items) == list(range(300))
    assert dataset.largest <= bound


@pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="without the GIL an object that another thread let go is freed when its own thread comes by",
)
def test_the_consumer_that_waits_lets_no_more_than_the_bound_exist():
    class Item:
        pass

    alive, lock, largest = weakref.WeakSet(), threading.Lock(), [0]

    class Items(MapDataset):
        def __len__(self):
            return 400

        def __getitem__(self, index):
            item = Item()
            with lock:
                alive.add(item)
                largest[0] = max(largest[0], len(alive))
            return item

    with DataLoader(Items(), num_workers=4, prefetch_depth=3) as loader:
        for _ in loader:
            pass
    # The window's seven, and what the consumer holds: the batch it has and the one that replaces it.
    assert loader.stats().window.largest <= 7
    if getattr(sys, "_is_gil_enabled", lambda: True)():  # without it, an object may outlive its last reference
        assert largest[0] <= 9


def test_memory_does_not_grow_over_an_epoch_of_a_million_objects():
    data = [(i,) for i in range(1_000_000)]
    process = psutil.Process()
    with DataLoader(data, 500, shuffle=True, seed=1, num_workers=4) as loader:
        seen = 0
        for number, batch in enumerate(loader):
            seen += len(batch)
            if number == 100:
                before = process.memory_info().rss
        after = process.memory_info().rss
    assert seen == 1_000_000
    assert after - before < 16 * 2**20


def test_a_taken_batch_is_let_go():
    class Batch(list):
        pass

    with DataLoader(range(8), num_workers=2, collate_fn=Batch) as loader:
        iterator = iter(loader)
        batch = next(iterator)
        reference = weakref.ref(batch)
        del batch
        gc.collect()
        assert reference() is None
