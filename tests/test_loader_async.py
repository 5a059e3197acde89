"""AsyncDataset: coroutines on the loader's own loop give the batches that threads would."""

import asyncio
import queue
import threading

import pytest
from async_datasets import Gate, Items, Plain, flat

from headrace import AsyncDataset, DataLoader, MapDataset, PyAsyncDataset, sample_rng

WAYS = [(0, 1), (0, 5), (1, 1), (1, 8), (2, 3), (4, 16)]


@pytest.mark.parametrize(("num_workers", "item_concurrency"), WAYS)
@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 7},
        {"batch_size": 7, "shuffle": True, "seed": 3},
        {"batch_size": None},
        {"batch_size": 6, "drop_last": True, "return_indices": True},
        {"batch_size": 5, "transform": lambda index, sample: (index, sample + 1)},
        {"batch_size": 5, "collate_fn": sum, "shard": (1, 3)},
        {"batch_sampler": [[3, 1], [2], [49, 0, 5]]},
    ],
    ids=lambda options: "-".join(options),
)
def test_the_batches_are_those_of_a_plain_dataset(num_workers, item_concurrency, options):
    with DataLoader(Plain(), **options) as plain:
        expected = [list(plain), list(plain)]
    with DataLoader(Items(), num_workers=num_workers, item_concurrency=item_concurrency, **options) as loader:
        assert [list(loader), list(loader)] == expected
        assert len(loader) == len(expected[0])


@pytest.mark.parametrize(("num_workers", "item_concurrency"), WAYS)
def test_as_many_are_in_flight_as_was_said_and_no_more(num_workers, item_concurrency):
    gate = Gate(400)
    bound = max(1, num_workers) * item_concurrency
    with DataLoader(gate, 16, num_workers=num_workers, item_concurrency=item_concurrency) as loader:
        consumer = threading.Thread(target=lambda: batches.extend(loader))
        batches = []
        consumer.start()
        wanted = min(bound, 16 * max(1, num_workers and num_workers + 2))
        for _ in range(wanted):
            gate.held.get(timeout=30)
        gate.opened.set()
        consumer.join(60)
        assert flat(batches) == [10 * index for index in range(400)]
        assert gate.most == wanted


def test_the_next_batch_begins_while_the_last_items_of_one_trickle_in():
    gate = Gate(32)
    gate.closed_at = 32

    async def first_waits(index, item=gate.item):
        if index == 0:
            while not gate.opened.is_set():
                await asyncio.sleep(0.001)
        seen.put(index)
        return await item(index)

    seen = queue.SimpleQueue()
    gate.item = first_waits
    with DataLoader(gate, 4, num_workers=1, item_concurrency=4) as loader:
        iterator = iter(loader)
        assert {seen.get(timeout=30) for _ in range(11)} == set(range(1, 12))  # two batches ahead of the one held up
        gate.opened.set()
        assert next(iterator) == [0, 10, 20, 30]


@pytest.mark.parametrize("num_workers", [1, 3])
def test_the_oldest_batch_is_served_first(num_workers):
    gate = Gate(64, closed_at=8)  # were a later batch given a place before its turn, the first would never come
    with DataLoader(gate, 8, num_workers=num_workers, item_concurrency=1) as loader:
        assert next(iter(loader)) == [10 * index for index in range(8)]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_getitems_fetches_a_batch_when_items_come_one_at_a_time(num_workers):
    calls = []

    class Whole(Items):
        async def __getitems__(self, indices):
            calls.append(indices)
            return (10 * index for index in indices)

    with DataLoader(Whole(10), 4, num_workers=num_workers) as loader:
        assert list(loader) == [[0, 10, 20, 30], [40, 50, 60, 70], [80, 90]]
    assert sorted(calls) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    calls.clear()
    with DataLoader(Whole(10), 4, num_workers=num_workers, item_concurrency=2) as loader:
        assert len(list(loader)) == 3
    with DataLoader(Whole(10), None, num_workers=num_workers) as loader:
        assert len(list(loader)) == 10
    Whole.__getitems__ = None
    with DataLoader(Whole(10), 4, num_workers=num_workers) as loader:
        assert len(list(loader)) == 3
    assert not calls


@pytest.mark.parametrize("num_workers", [0, 2])
def test_getitems_that_gives_too_few_or_fails(num_workers):
    class Short(Items):
        async def __getitems__(self, indices):
            if 4 in indices:
                raise KeyError("whole")
            return indices[1:]

        async def item(self, index):
            if index == 5:
                raise KeyError(index)
            return index

    with DataLoader(Short(8), 4, num_workers=num_workers) as loader:
        iterator = iter(loader)
        with pytest.raises(ValueError, match=r"Short\.__getitems__ gave 3 samples for 4 indices"):
            next(iterator)
        with pytest.raises(KeyError, match="whole"):
            next(iterator)
    with DataLoader(Short(8), 4, num_workers=num_workers, on_error="skip") as loader:
        assert list(loader) == [[0, 1, 2, 3], [4, 6, 7]]  # each asked for alone, once the whole has failed
        assert [failure.index for failure in loader.failures] == [5]


def test_what_a_class_must_define_is_checked_when_the_loader_is_made():
    class PlainItem(AsyncDataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return index

    class PlainClose(Items):
        def aclose(self):
            pass

    class PlainItems(Items):
        def __getitems__(self, indices):
            return indices

    class Both(Items, MapDataset):
        pass

    class NoLength(AsyncDataset):
        async def __getitem__(self, index):
            return index

    class NoItem(AsyncDataset):
        def __len__(self):
            return 1

    class PlainNoLength(MapDataset):
        def __getitem__(self, index):
            return index

    class AsyncOnPlain(Plain):
        async def __getitem__(self, index):
            return index

    class AsyncManyOnPlain(Plain):
        async def __getitems__(self, indices):
            return indices

    for dataset, words in [
        (PlainItem(), "PlainItem.__getitem__ must be `async def`"),
        (PlainClose(), "PlainClose.aclose must be `async def`"),
        (PlainItems(), "PlainItems.__getitems__ must be `async def`"),
        (Both(), "both MapDataset and AsyncDataset"),
        (NoLength(), "NoLength must define __len__"),
        (NoItem(), "NoItem must define __getitem__"),
        (PlainNoLength(), "PlainNoLength must define __len__"),
        (AsyncOnPlain(), "AsyncOnPlain.__getitem__ is `async def`"),
        (AsyncManyOnPlain(), "AsyncManyOnPlain.__getitems__ is `async def`"),
    ]:
        with pytest.raises(TypeError, match=words.replace(".", r"\.")):
            DataLoader(dataset)
    assert PyAsyncDataset is AsyncDataset


@pytest.mark.parametrize("num_workers", [0, 3])
@pytest.mark.parametrize("item_concurrency", [1, 4])
def test_an_error_keeps_its_type_and_says_where_it_came_from(num_workers, item_concurrency):
    class Odd(Exception):
        def __init__(self, left, right):
            super().__init__(left + right)

    class Fails(Items):
        async def item(self, index):
            if index in (5, 6):
                raise Odd("a", str(index))
            return index

    with DataLoader(Fails(12), 4, num_workers=num_workers, item_concurrency=item_concurrency) as loader:
        iterator = iter(loader)
        assert next(iterator) == [0, 1, 2, 3]
        with pytest.raises(Odd, match="a5") as caught:  # the first in the batch's order, whichever came first
            next(iterator)
        assert caught.value.__notes__[0].startswith("headrace: dataset index 5, batch 1, ")
        assert "item" in [entry.name for entry in caught.traceback]
        assert next(iterator) == [8, 9, 10, 11]


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("transform", [None, lambda index, sample: -sample])
def test_failed_samples_are_skipped_or_substituted(num_workers, transform):
    class Fails(Items):
        async def item(self, index):
            if index % 3 == 1:
                raise KeyError(index)
            return index

    options = dict(num_workers=num_workers, item_concurrency=4, transform=transform)
    sign = 1 if transform is None else -1
    with DataLoader(Fails(9), 4, on_error="skip", return_indices=True, **options) as loader:
        assert list(loader) == [([0, sign * 2, sign * 3], [0, 2, 3]), ([sign * 5, sign * 6], [5, 6]), ([sign * 8], [8])]
        assert sorted(failure.index for failure in loader.failures) == [1, 4, 7]
    with DataLoader(Fails(9), 4, on_error=lambda failure: ("instead", failure.index), **options) as loader:
        assert list(loader)[2] == [sign * 8]
        assert ("instead", 7) in list(loader)[1]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_failing_transform_fails_its_batch_alone(num_workers):
    with DataLoader(
        Items(8), 2, num_workers=num_workers, item_concurrency=2, transform=lambda index, sample: 1 // (index - 3)
    ) as loader:
        iterator = iter(loader)
        next(iterator)
        with pytest.raises(ZeroDivisionError) as caught:
            next(iterator)
        assert "dataset index 3, batch 1" in caught.value.__notes__[0]
        assert len(list(iterator)) == 2


@pytest.mark.parametrize("num_workers", [0, 1])
@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, asyncio.CancelledError])
def test_exits_raised_by_a_coroutine_arrive_as_they_are(num_workers, kind):
    class Leaves(Items):
        async def item(self, index):
            if index == 1:
                raise kind("now")
            return index

    with DataLoader(Leaves(3), num_workers=num_workers, on_error="skip") as loader:
        iterator = iter(loader)
        assert next(iterator) == [0]
        with pytest.raises(kind):
            next(iterator)
        assert next(iterator) == [2]


def test_a_failed_batch_does_not_wait_for_what_cannot_change_it():
    gate = Gate(4, closed_at=2)

    async def first_fails(index, item=gate.item):
        if index == 0:
            raise KeyError(index)
        return await item(index)

    gate.item = first_fails
    with DataLoader(gate, 4, item_concurrency=4) as loader, pytest.raises(KeyError):
        next(iter(loader))
    assert not gate.opened.is_set()


@pytest.mark.parametrize(("num_workers", "item_concurrency"), WAYS)
def test_draws_belong_to_the_item(num_workers, item_concurrency):
    class Draws(Items):
        async def item(self, index):
            first = int(sample_rng().integers(1 << 40))
            await asyncio.sleep(0)
            assert sample_rng() is sample_rng()
            in_thread = await asyncio.to_thread(lambda: int(sample_rng().integers(1 << 40))) if index % 9 == 0 else 0
            return first, in_thread

    def transform(index, sample):
        return (*sample, int(sample_rng().integers(1 << 40)))

    class PlainDraws(Plain):
        def __getitem__(self, index):
            first = int(sample_rng().integers(1 << 40))
            return first, int(sample_rng().integers(1 << 40)) if index % 9 == 0 else 0

    options = dict(shuffle=True, seed=4, transform=transform)
    with DataLoader(PlainDraws(30), 7, **options) as plain:
        expected = [list(plain), list(plain)]
    with DataLoader(Draws(30), 7, num_workers=num_workers, item_concurrency=item_concurrency, **options) as loader:
        assert [list(loader), list(loader)] == expected
    with pytest.raises(RuntimeError, match="sample_rng"):
        sample_rng()


@pytest.mark.parametrize("num_workers", [0, 2])
def test_resuming_at_every_step(num_workers):
    options = dict(batch_size=4, shuffle=True, seed=5, num_workers=num_workers, item_concurrency=3)
    with DataLoader(Items(30), **options) as loader:
        expected = list(loader)
    for given in range(len(expected) + 1):
        with DataLoader(Items(30), **options) as first, DataLoader(Items(30), **options) as second:
            iterator = iter(first)
            for _ in range(given):
                next(iterator)
            second.load_state_dict(first.state_dict())
            assert given == len(expected) or list(second) == expected[given:]


def test_out_of_order_gives_the_same_set():
    with DataLoader(Items(40), 4, num_workers=3, item_concurrency=4, in_order=False) as loader:
        assert sorted(flat(loader)) == [10 * index for index in range(40)]


def test_runtime_threads_is_accepted():
    with DataLoader(Items(4), runtime_threads=1) as loader:
        assert list(loader) == [[0], [10], [20], [30]]
    for value, kind in [(0, ValueError), (1025, ValueError), ("2", TypeError), (True, TypeError)]:
        with pytest.raises(kind, match="runtime_threads"):
            DataLoader(Items(4), runtime_threads=value)
