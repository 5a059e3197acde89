"""Map-style datasets: batches, lengths, orders, transforms and collation."""

import itertools
import threading
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace import DataLoader, MapDataset, Permutation

WORKERS = [0, 1, 4]


class Squares(MapDataset):
    def __init__(self, n=10):
        super().__init__()
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return index * index


@pytest.mark.parametrize("num_workers", WORKERS)
def test_batches_are_lists_in_order(num_workers):
    with DataLoader(Squares(), batch_size=4, num_workers=num_workers) as loader:
        for _ in range(3):
            assert list(loader) == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]


def test_the_default_batch_has_one_item():
    assert list(DataLoader([7, 8])) == [[7], [8]]


@pytest.mark.parametrize(
    "dataset", [list("abcde"), tuple("abcde"), "abcde", np.arange(5), range(5), {i: str(i) for i in range(5)}]
)
def test_anything_with_length_and_items_is_a_dataset(dataset):
    assert [batch[0] for batch in DataLoader(dataset)] == [dataset[i] for i in range(5)]


@given(
    n=st.integers(0, 40),
    batch_size=st.integers(1, 12),
    drop_last=st.booleans(),
    shuffle=st.booleans(),
    num_workers=st.sampled_from([0, 2]),
)
@settings(max_examples=60, deadline=None)
def test_lengths_and_contents(n, batch_size, drop_last, shuffle, num_workers):
    with DataLoader(
        range(n), batch_size=batch_size, drop_last=drop_last, shuffle=shuffle, num_workers=num_workers
    ) as loader:
        batches = list(loader)
        assert len(loader) == len(batches) == (n // batch_size if drop_last else -(-n // batch_size))
    items = [item for batch in batches for item in batch]
    assert len(set(items)) == len(items) == (n // batch_size * batch_size if drop_last else n)
    assert set(items) <= set(range(n))
    if not shuffle:
        assert items == list(range(len(items)))
    assert all(len(batch) == batch_size for batch in batches[:-1])


@pytest.mark.parametrize("num_workers", WORKERS)
def test_the_length_of_an_iterator_is_what_is_left(num_workers):
    with DataLoader(range(10), batch_size=4, num_workers=num_workers) as loader:
        iterator = iter(loader)
        left = [len(iterator)]
        for _ in iterator:
            left.append(len(iterator))
    assert left == [3, 2, 1, 0]


def test_an_iterator_is_its_own_iterator_and_stays_ended():
    iterator = iter(DataLoader([1]))
    assert iter(iterator) is iterator
    assert list(iterator) == [[1]]
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(iterator)


def test_the_order_does_not_depend_on_the_workers():
    def epochs(num_workers, **more):
        with DataLoader(range(101), 7, shuffle=True, seed=3, num_workers=num_workers, **more) as loader:
            return [list(loader) for _ in range(3)]

    expected = epochs(0)
    assert len({str(epoch) for epoch in expected}) == 3
    for num_workers, more in itertools.product([1, 2, 8], [{}, {"prefetch_depth": 9}, {"item_concurrency": 3}]):
        assert epochs(num_workers, **more) == expected


def test_the_seed_decides_the_order():
    def order(seed):
        return next(iter(DataLoader(range(60), 60, shuffle=True, seed=seed)))

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert order(0) != list(range(60))
    assert sorted(order(2**64 - 1)) == list(range(60))


def test_no_seed_draws_one():
    orders = {tuple(next(iter(DataLoader(range(60), 60, shuffle=True)))) for _ in range(4)}
    assert len(orders) == 4


def test_ten_billion_items_start_at_once():
    with DataLoader(range(10**10), 8, shuffle=True, seed=1, num_workers=2) as loader:
        batch = next(iter(loader))
        assert len(loader) == 10**10 // 8
    assert len(set(batch)) == 8


def test_set_epoch_and_epoch():
    loader = DataLoader(range(30), 30, shuffle=True, seed=1)
    assert loader.epoch == 0
    orders = []
    for epoch in range(3):
        iterator = iter(loader)
        assert loader.epoch == epoch
        orders.append(next(iterator))
        assert next(iterator, None) is None
        assert loader.epoch == epoch + 1
    for epoch in (2, 0, 1):
        loader.set_epoch(epoch)
        assert loader.epoch == epoch
        assert list(loader) == [orders[epoch]]
    assert loader.epoch == 2


@pytest.mark.parametrize("num_workers", WORKERS)
def test_transform_gets_the_index_and_the_sample(num_workers):
    with DataLoader(
        Squares(9), 4, shuffle=True, seed=1, num_workers=num_workers, transform=lambda i, x: (i, x)
    ) as loader:
        pairs = [pair for batch in loader for pair in batch]
    assert sorted(pairs) == [(i, i * i) for i in range(9)]


class Compose:
    def __call__(self, image):
        return -image


@pytest.mark.parametrize("transform", [lambda x: -x, Compose(), lambda x, scale=-1: x * scale, lambda x, *rest: -x])
def test_a_transform_of_one_required_argument_gets_the_sample(transform):
    assert list(DataLoader([1, 2, 3], 3, transform=transform)) == [[-1, -2, -3]]


@pytest.mark.parametrize("num_workers", WORKERS)
@pytest.mark.parametrize("item_concurrency", [1, 3])
def test_collate_and_indices(num_workers, item_concurrency):
    with DataLoader(
        Squares(10),
        4,
        shuffle=True,
        seed=5,
        num_workers=num_workers,
        item_concurrency=item_concurrency,
        collate_fn=np.array,
        return_indices=True,
    ) as loader:
        seen = []
        for batch, indices in loader:
            assert type(indices) is list
            assert all(type(index) is int for index in indices)
            assert batch.tolist() == [i * i for i in indices]
            seen += indices
    assert sorted(seen) == list(range(10))


def test_collate_gets_a_list():
    kinds = []
    list(DataLoader(range(3), 2, collate_fn=lambda samples: kinds.append(type(samples))))
    assert kinds == [list, list]


@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_batch_may_be_any_object(num_workers):
    for value in (None, StopIteration, 0, [], TimeoutError("a value")):
        with DataLoader(range(3), num_workers=num_workers, collate_fn=lambda _, value=value: value) as loader:
            assert list(loader) == [value] * 3


class Rows(MapDataset):
    """Fetches whole batches; `answer` makes the result of the rows."""

    def __init__(self, answer=list):
        super().__init__()
        self.calls = []
        self.answer = answer

    def __len__(self):
        return 10

    def __getitem__(self, index):
        self.calls.append(index)
        return index

    def __getitems__(self, indices):
        self.calls.append(list(indices))
        assert type(indices) is list
        return self.answer([-i for i in indices])


@pytest.mark.parametrize("num_workers", WORKERS)
@pytest.mark.parametrize("answer", [list, tuple, iter, np.array, deque])
def test_getitems_fetches_a_batch_in_one_call(num_workers, answer):
    rows = Rows(answer)
    with DataLoader(rows, 4, num_workers=num_workers, transform=lambda i, x: (i, int(x))) as loader:
        assert [pair for batch in loader for pair in batch] == [(i, -i) for i in range(10)]
    assert sorted(rows.calls) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize("num_workers", WORKERS)
@pytest.mark.parametrize("answer", [lambda rows: rows[1:], lambda rows: [*rows, 5]])
def test_getitems_of_a_wrong_length_is_a_value_error(num_workers, answer):
    with (
        DataLoader(Rows(answer), 4, num_workers=num_workers) as loader,
        pytest.raises(ValueError, match="__getitems__"),
    ):
        next(iter(loader))


def test_getitems_set_to_none_is_off():
    class Plain(Rows):
        __getitems__ = None

    assert list(DataLoader(Plain(), 5)) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_getitems_is_not_used_with_item_concurrency():
    rows = Rows()
    with DataLoader(rows, 5, item_concurrency=2) as loader:
        assert list(loader) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert sorted(rows.calls) == list(range(10))


@pytest.mark.parametrize("num_workers", WORKERS)
def test_items_of_one_batch_are_fetched_and_transformed_together(num_workers):
    fetching, transforming = threading.Barrier(4), threading.Barrier(4)

    class Together(MapDataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            fetching.wait(30)
            return index

    def transform(index, sample):
        transforming.wait(30)
        return sample

    with DataLoader(
        Together(), 4, num_workers=num_workers, item_concurrency=4, transform=transform, timeout=60
    ) as loader:
        assert list(loader) == [[0, 1, 2, 3]]


def test_workers_fetch_that_many_batches_in_parallel():
    together = threading.Barrier(4)

    class Together(MapDataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            together.wait(30)
            return index

    with DataLoader(Together(), num_workers=4) as loader:
        assert list(loader) == [[0], [1], [2], [3]]


def test_without_workers_everything_runs_on_the_calling_thread():
    threads = set()

    def note(value):
        threads.add(threading.get_ident())
        return value

    class Here(Squares):
        def __getitem__(self, index):
            return note(index)

    list(DataLoader(Here(), 4, transform=lambda i, x: note(x), collate_fn=note))
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("num_workers", WORKERS)
def test_batch_size_none_gives_items(num_workers):
    with DataLoader(Squares(5), batch_size=None, num_workers=num_workers) as loader:
        assert len(loader) == 5
        assert list(loader) == [0, 1, 4, 9, 16]
    with DataLoader(
        Squares(5), batch_size=None, num_workers=num_workers, collate_fn=str, return_indices=True
    ) as loader:
        assert list(loader) == [(str(i * i), i) for i in range(5)]


def test_a_dataset_may_change_its_length_between_epochs():
    dataset = Squares(4)
    with DataLoader(dataset, 2, shuffle=True, seed=1, num_workers=2) as loader:
        assert sorted(x for batch in loader for x in batch) == [0, 1, 4, 9]
        dataset.n = 7
        assert sorted(x for batch in loader for x in batch) == [i * i for i in range(7)]
        dataset.n = 0
        assert list(loader) == []


@pytest.mark.parametrize("num_workers", WORKERS)
def test_unordered_batches_are_the_same_set(num_workers):
    with DataLoader(range(50), 4, shuffle=True, seed=2, num_workers=num_workers) as ordered:
        expected = sorted(ordered)
    with DataLoader(range(50), 4, shuffle=True, seed=2, num_workers=num_workers, in_order=False) as loader:
        assert sorted(loader) == expected


def test_unordered_batches_overtake_a_slow_one():
    release = threading.Event()

    class SlowFirst(MapDataset):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            if index == 0:
                assert release.wait(60)
            return index

    with DataLoader(SlowFirst(), num_workers=2, in_order=False) as loader:
        iterator = iter(loader)
        assert sorted([next(iterator), next(iterator)]) == [[1], [2]]
        release.set()
        assert list(iterator) == [[0]]


@given(n=st.integers(1, 3000), key=st.integers(0, 2**64 - 1))
@settings(max_examples=30, deadline=None)
def test_the_permutation_is_one(n, key):
    permutation = Permutation(n, key)
    assert len(permutation) == n
    assert sorted(permutation[i] for i in range(n)) == list(range(n))
