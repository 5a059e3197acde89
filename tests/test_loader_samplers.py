"""Samplers and batch samplers: what is accepted, and that a bad one is heard when the epoch starts."""

import random

import numpy as np
import pytest

from headrace import DataLoader

WORKERS = [0, 2]
ITEMS = list(range(100, 110))


class Weighted:
    def __init__(self, weights):
        self.weights = weights

    def __len__(self):
        return len(self.weights)

    def __iter__(self):
        yield from random.choices(range(len(self.weights)), weights=self.weights, k=len(self.weights))


class HalfWay:
    def __iter__(self):
        yield from [0, 1, 2]
        raise LookupError("the index file ends here")


@pytest.mark.parametrize("num_workers", WORKERS)
@pytest.mark.parametrize(
    "sampler", [[3, 1, 3], (3, 1, 3), np.array([3, 1, 3]), [np.int64(3), np.int32(1), np.uint8(3)]]
)
def test_a_sampler_gives_the_indices(num_workers, sampler):
    with DataLoader(ITEMS, 2, sampler=sampler, num_workers=num_workers, return_indices=True) as loader:
        assert len(loader) == 2
        for _ in range(2):
            assert list(loader) == [([103, 101], [3, 1]), ([103], [3])]


def test_a_weighted_sampler():
    with DataLoader(ITEMS, 4, sampler=Weighted([0] * 9 + [1]), num_workers=2) as loader:
        assert list(loader) == [[109] * 4, [109] * 4, [109] * 2]


def test_a_sampler_without_length_has_none_but_iterates():
    class Lengthless:
        def __iter__(self):
            return iter([4, 2])

    loader = DataLoader(ITEMS, sampler=Lengthless())
    with pytest.raises(TypeError):
        len(loader)
    assert list(loader) == [[104], [102]]
    iterator = iter(loader)
    assert len(iterator) == 2


@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_sampler_that_raises_half_way_fails_the_start(num_workers):
    with DataLoader(ITEMS, sampler=HalfWay(), num_workers=num_workers) as loader:
        for _ in range(2):
            with pytest.raises(LookupError, match="ends here"):
                iter(loader)


@pytest.mark.parametrize("num_workers", WORKERS)
@pytest.mark.parametrize("bad", [-1, "2", 2.0, None, np.float64(1), 1 + 0j, b"1", [1], np.int64(-3)])
def test_a_bad_index_fails_the_start(num_workers, bad):
    with (
        DataLoader(ITEMS, sampler=[0, 1, bad], num_workers=num_workers) as loader,
        pytest.raises((TypeError, ValueError)) as caught,
    ):
        iter(loader)
    assert "sampler" in str(caught.value)


@pytest.mark.parametrize("num_workers", WORKERS)
def test_an_empty_sampler_is_an_epoch_without_batches(num_workers):
    with DataLoader(ITEMS, 4, sampler=[], num_workers=num_workers) as loader:
        assert len(loader) == 0
        assert list(loader) == []
        assert list(loader) == []


@pytest.mark.parametrize("num_workers", WORKERS)
def test_an_index_beyond_the_dataset_is_its_own_error(num_workers):
    with DataLoader(ITEMS, sampler=[0, 10, 1], num_workers=num_workers) as loader:
        iterator = iter(loader)
        assert next(iterator) == [100]
        with pytest.raises(IndexError):
            next(iterator)
        assert list(iterator) == [[101]]


@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_sampler_is_read_anew_each_epoch(num_workers):
    class Growing:
        rounds = 0

        def __iter__(self):
            self.rounds += 1
            return iter(range(self.rounds))

    with DataLoader(ITEMS, 9, sampler=Growing(), num_workers=num_workers) as loader:
        assert [list(loader) for _ in range(3)] == [[[100]], [[100, 101]], [[100, 101, 102]]]


@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_batch_sampler_gives_the_batches(num_workers):
    groups = [[1, 2], (3,), np.array([4, 5, 6])]
    with DataLoader(ITEMS, batch_sampler=groups, num_workers=num_workers, return_indices=True) as loader:
        assert len(loader) == 3
        for _ in range(2):
            assert list(loader) == [([101, 102], [1, 2]), ([103], [3]), ([104, 105, 106], [4, 5, 6])]


def test_a_batch_sampler_may_be_a_generator_without_length():
    class Groups:
        def __iter__(self):
            yield [0, 1]
            yield [2]

    loader = DataLoader(ITEMS, batch_sampler=Groups())
    with pytest.raises(TypeError):
        len(loader)
    assert list(loader) == [[100, 101], [102]]


@pytest.mark.parametrize(
    ("groups", "error"), [([[1], []], ValueError), ([[1], 2], TypeError), ([[1], ["a"]], TypeError)]
)
@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_bad_batch_sampler_fails_the_start(groups, error, num_workers):
    with (
        DataLoader(ITEMS, batch_sampler=groups, num_workers=num_workers) as loader,
        pytest.raises(error, match="batch_sampler"),
    ):
        iter(loader)


def test_a_batch_sampler_that_raises_half_way_fails_the_start():
    class Groups:
        def __iter__(self):
            yield [0]
            raise LookupError("lost")

    with pytest.raises(LookupError, match="lost"):
        iter(DataLoader(ITEMS, batch_sampler=Groups()))


@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_length_that_raises_fails_the_start(num_workers):
    class Moody:
        broken = False

        def __len__(self):
            if self.broken:
                raise ConnectionError("the table is away")
            return 3

        def __getitem__(self, index):
            return index

    dataset = Moody()
    with DataLoader(dataset, num_workers=num_workers) as loader:
        assert list(loader) == [[0], [1], [2]]
        dataset.broken = True
        with pytest.raises(ConnectionError, match="away"):
            iter(loader)
        dataset.broken = False
        assert list(loader) == [[0], [1], [2]]
