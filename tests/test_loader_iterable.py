"""Iterable datasets: one reader, order kept, nothing twice, errors heard."""

import gc
import threading

import pytest

from headrace import DataLoader

WORKERS = [0, 1, 4]


class Stream:
    def __init__(self, n, fail_at=None):
        self.n, self.fail_at, self.readers = n, fail_at, set()

    def __iter__(self):
        for i in range(self.n):
            self.readers.add(threading.get_ident())
            if i == self.fail_at:
                raise ConnectionError(f"lost at {i}")
            yield i * 10


@pytest.mark.parametrize("num_workers", WORKERS)
@pytest.mark.parametrize("batch_size", [1, 3, 7, 100])
def test_order_is_kept_and_nothing_comes_twice(num_workers, batch_size):
    stream = Stream(50)
    with DataLoader(stream, batch_size, num_workers=num_workers) as loader:
        for _ in range(2):
            batches = list(loader)
            assert [x for batch in batches for x in batch] == [i * 10 for i in range(50)]
            assert all(len(batch) == batch_size for batch in batches[:-1])


@pytest.mark.parametrize("num_workers", WORKERS)
def test_one_reader_iterates_it(num_workers):
    stream = Stream(64)
    with DataLoader(stream, 2, num_workers=num_workers) as loader:
        list(loader)
    assert len(stream.readers) == 1


@pytest.mark.parametrize("num_workers", WORKERS)
def test_drop_last(num_workers):
    with DataLoader(Stream(10), 4, num_workers=num_workers, drop_last=True) as loader:
        assert list(loader) == [[0, 10, 20, 30], [40, 50, 60, 70]]


@pytest.mark.parametrize("num_workers", WORKERS)
def test_an_empty_stream_is_an_epoch_without_batches(num_workers):
    with DataLoader(Stream(0), 4, num_workers=num_workers) as loader:
        assert list(loader) == []


@pytest.mark.parametrize("num_workers", WORKERS)
def test_items_are_numbered_as_they_come(num_workers):
    with DataLoader(
        Stream(7), 3, num_workers=num_workers, transform=lambda i, x: (i, x), return_indices=True
    ) as loader:
        for batch, indices in loader:
            assert batch == [(i, i * 10) for i in indices]


@pytest.mark.parametrize("num_workers", WORKERS)
def test_batch_size_none_gives_items(num_workers):
    with DataLoader(Stream(5), batch_size=None, num_workers=num_workers) as loader:
        assert list(loader) == [0, 10, 20, 30, 40]


@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_stream_that_raises_is_heard_after_the_whole_batches(num_workers):
    with DataLoader(Stream(10, fail_at=5), 2, num_workers=num_workers) as loader:
        iterator = iter(loader)
        assert [next(iterator), next(iterator)] == [[0, 10], [20, 30]]
        with pytest.raises(ConnectionError, match="lost at 5"):
            for _ in iterator:
                pass


@pytest.mark.parametrize("num_workers", WORKERS)
def test_an_endless_stream_is_read_ahead_by_the_bound_alone(num_workers):
    read, asked = [0], [0]
    over = []

    class Endless:
        def __iter__(self):
            while True:
                read[0] += 1
                # One batch may be in the reader's hands beside those in the window.
                if read[0] > (asked[0] + num_workers + 2 + 1) * 2:
                    over.append(read[0])
                yield read[0]

    with DataLoader(Endless(), 2, num_workers=num_workers, prefetch_depth=2) as loader:
        iterator = iter(loader)
        for k in range(30):
            asked[0] += 1
            assert next(iterator) == [2 * k + 1, 2 * k + 2]
    assert not over


@pytest.mark.parametrize("arguments", [{"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}])
def test_a_stream_has_no_order_to_draw(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        DataLoader(Stream(5), **arguments)


def test_a_stream_without_length_has_none():
    with pytest.raises(TypeError):
        len(DataLoader(Stream(5)))


@pytest.mark.parametrize("num_workers", WORKERS)
def test_leaving_early_lets_go_of_the_stream(num_workers):
    closed = threading.Event()

    class Finalised:
        def __iter__(self):
            try:
                yield from range(10_000)
            finally:
                closed.set()

    before = set(threading.enumerate())
    loader = DataLoader(Finalised(), num_workers=num_workers)
    for _ in loader:
        break
    started = set(threading.enumerate()) - before
    loader.close()
    del loader
    gc.collect()
    for thread in started:
        thread.join(20)
    gc.collect()
    assert closed.is_set()
