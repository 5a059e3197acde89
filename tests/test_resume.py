"""A saved position gives exactly the rest of the epoch, also at another batch size or world size."""

import itertools
import json
import random

import pytest

from headrace import DataLoader

N = 24


def loaders(world, batch_size, *, shuffle=False, **arguments):
    order = {"shuffle": True, "seed": 11} if shuffle else {}
    return [DataLoader(range(N), batch_size, shard=(rank, world), **order, **arguments) for rank in range(world)]


def flat(batches):
    return [item for batch in batches for item in batch]


def advance(ranks, steps):
    """Takes `steps` batches on each rank in lockstep; gives the items, the states and the iterators."""
    iterators = [iter(rank) for rank in ranks]
    given = [[] for _ in ranks]
    for _ in range(steps):
        for items, iterator in zip(given, iterators, strict=True):
            items.append(next(iterator))
    return given, [json.loads(json.dumps(rank.state_dict())) for rank in ranks], iterators


def resume(ranks, states):
    for number, rank in enumerate(ranks):
        rank.load_state_dict(states[number % len(states)])
    return ranks


CASES = list(itertools.product([False, True], [False, True], ["pad", "drop"], range(1, 6)))


@pytest.mark.parametrize(("shuffle", "drop_last", "even", "world"), CASES)
def test_every_step_of_every_shape(shuffle, drop_last, even, world):
    for batch_size in range(1, 10):
        arguments = {"shuffle": shuffle, "drop_last": drop_last, "even": even}
        whole = [list(rank) for rank in loaders(world, batch_size, **arguments)]
        following = [list(rank) for rank in _after_an_epoch(loaders(world, batch_size, **arguments))]
        for step in range(len(whole[0])):
            given, states, iterators = advance(loaders(world, batch_size, **arguments), step)
            rest = [list(rank) for rank in resume(loaders(world, batch_size, **arguments), states)]
            assert [a + b for a, b in zip(given, rest, strict=True)] == whole
            assert rest == [list(iterator) for iterator in iterators]
            if not drop_last:
                items = flat(flat(batches) for batches in given + rest)
                if even == "pad":
                    assert set(items) == set(range(N))
                else:
                    assert len(items) == len(set(items)) == N // world * world
        finished = _after_an_epoch(loaders(world, batch_size, **arguments))
        states = [rank.state_dict() for rank in finished]
        assert [list(rank) for rank in resume(loaders(world, batch_size, **arguments), states)] == following


def _after_an_epoch(ranks):
    for rank in ranks:
        list(rank)
    return ranks


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("even", ["pad", "drop"])
@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 2), (1, 4), (5, 1)])
def test_another_world_size(shuffle, even, before, after):
    for first, second in itertools.product(range(1, 10), (1, 2, 5, 9)):
        arguments = {"shuffle": shuffle, "even": even}
        steps = len(loaders(before, first, **arguments)[0])
        for step in range(steps):
            given, states, _ = advance(loaders(before, first, **arguments), step)
            rest = [list(rank) for rank in resume(loaders(after, second, **arguments), states)]
            assert len({tuple(map(len, batches)) for batches in rest}) == 1
            old, new = flat(flat(x) for x in given), flat(flat(x) for x in rest)
            assert not set(old) & set(new) or (even == "pad" and len(old) + len(new) > N)
            if even == "pad":
                assert set(old) | set(new) == set(range(N))
                assert len(old) + len(new) < N + after
            else:
                assert len(old + new) == len(set(old + new)) == len(old) + (N - len(old)) // after * after


@pytest.mark.parametrize("shuffle", [False, True])
def test_another_batch_size(shuffle):
    for first, second in itertools.product(range(1, 10), repeat=2):
        (whole,) = (flat(rank) for rank in loaders(1, 1, shuffle=shuffle))
        for step in range(len(loaders(1, first)[0])):
            given, states, _ = advance(loaders(1, first, shuffle=shuffle), step)
            (rest,) = resume(loaders(1, second, shuffle=shuffle), states)
            assert flat(given[0]) + flat(rest) == whole


@pytest.mark.parametrize("num_workers", [1, 3])
@pytest.mark.parametrize("in_order", [True, False])
def test_what_was_prefetched_does_not_count(num_workers, in_order):
    arguments = {"batch_size": 3, "shuffle": True, "seed": 2, "num_workers": num_workers, "in_order": in_order}
    for step in range(8):
        with DataLoader(range(N), prefetch_depth=5, **arguments) as loader:
            iterator = iter(loader)
            given = [next(iterator) for _ in range(step)]
            state = loader.state_dict()
        with DataLoader(range(N), **arguments) as again:
            again.load_state_dict(state)
            rest = list(again)
        assert len(given) + len(rest) == 8
        assert sorted(flat(given) + flat(rest)) == list(range(N))


def test_resuming_twice_in_one_epoch():
    arguments = {"batch_size": 4, "shuffle": True, "seed": 3}
    whole, given, state = list(DataLoader(range(N), **arguments)), [], None
    for _ in range(6):
        loader = DataLoader(range(N), **arguments)
        if state is not None:
            loader.load_state_dict(state)
        iterator = iter(loader)
        assert len(iterator) == 6 - len(given)
        given.append(next(iterator))
        state = loader.state_dict()
    assert given == whole


def test_resuming_goes_on_with_the_following_epochs():
    arguments = {"batch_size": 5, "shuffle": True, "seed": 3}
    straight = DataLoader(range(N), **arguments)
    epochs = [list(straight) for _ in range(4)]
    loader = DataLoader(range(N), **arguments)
    list(loader)
    iterator = iter(loader)
    head = [next(iterator), next(iterator)]
    again = DataLoader(range(N), **arguments)
    again.load_state_dict(loader.state_dict())
    assert again.epoch == 1
    assert head + list(again) == epochs[1]
    assert again.epoch == 2
    assert [list(again), list(again)] == epochs[2:]


def test_a_loader_before_its_first_epoch_has_a_state():
    loader = DataLoader(range(N), 5, shuffle=True)
    again = DataLoader(range(N), 5, shuffle=True)
    again.load_state_dict(loader.state_dict())
    assert [list(again), list(again)] == [list(loader), list(loader)]


def test_the_state_carries_the_drawn_seed():
    loader = DataLoader(range(N), 5, shuffle=True)
    iterator = iter(loader)
    next(iterator)
    state = loader.state_dict()
    rest = list(iterator)
    assert len(rest) == 4
    for again in (DataLoader(range(N), 5, shuffle=True), DataLoader(range(N), 5, shuffle=True, seed=99)):
        again.load_state_dict(state)
        assert list(again) == rest


def test_the_state_follows_the_newest_iterator():
    loader = DataLoader(range(N), 4)
    old = iter(loader)
    next(old)
    new = iter(loader)
    next(new), next(new)
    next(old)
    again = DataLoader(range(N), 4)
    again.load_state_dict(loader.state_dict())
    assert again.epoch == 1
    assert flat(again) == list(range(8, N))


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_failed_batch_counts_as_given(num_workers):
    def transform(index, sample):
        if index == 5:
            raise LookupError(index)
        return sample

    with DataLoader(range(N), 4, num_workers=num_workers, transform=transform) as loader:
        iterator = iter(loader)
        next(iterator)
        with pytest.raises(LookupError):
            next(iterator)
        state = loader.state_dict()
    again = DataLoader(range(N), 4)
    again.load_state_dict(state)
    assert flat(again) == list(range(8, N))


@pytest.mark.parametrize("n", [10, 10**10])
@pytest.mark.parametrize("in_order", [True, False])
def test_the_state_is_small(n, in_order):
    with DataLoader(range(n), 2, shuffle=True, seed=2**63, num_workers=8, in_order=in_order) as loader:
        iterator = iter(loader)
        next(iterator), next(iterator)
        assert len(json.dumps(loader.state_dict())) < 1024


def test_a_large_dataset_resumes_in_its_middle():
    loader = DataLoader(range(10**10), 4, shuffle=True, seed=5)
    iterator = iter(loader)
    for _ in range(10):
        next(iterator)
    again = DataLoader(range(10**10), 4, shuffle=True, seed=5)
    again.load_state_dict(loader.state_dict())
    assert next(iter(again)) == next(iterator)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda: DataLoader(range(N + 1), 4, shuffle=True, seed=1), "24.*25|25.*24"),
        (lambda: DataLoader(range(N), 4), "shuffle"),
        (lambda: DataLoader(range(N), 4, sampler=list(range(N))), "sampler|shuffle|order"),
    ],
)
def test_a_state_that_does_not_fit_says_what_differs(other, words):
    loader = DataLoader(range(N), 4, shuffle=True, seed=1)
    next(iter(loader))
    state = loader.state_dict()
    with pytest.raises(ValueError, match=words):
        other().load_state_dict(state)


@pytest.mark.parametrize("state", [{}, {"epoch": "x"}, {"version": 99}])
def test_what_is_no_state_is_refused(state):
    with pytest.raises((ValueError, TypeError, KeyError)):
        DataLoader(range(N), 4).load_state_dict(state)


def test_loading_after_the_start_is_refused():
    loader = DataLoader(range(N), 4)
    state = loader.state_dict()
    iterator = iter(loader)
    with pytest.raises((RuntimeError, ValueError)):
        loader.load_state_dict(state)
    next(iterator)
    with pytest.raises((RuntimeError, ValueError)):
        loader.load_state_dict(state)


class Remembering:
    """Draws a new order each epoch from a position of its own."""

    def __init__(self):
        self.position = 0
        self.loaded = []

    def __len__(self):
        return N

    def __iter__(self):
        order = list(range(N))
        random.Random(self.position).shuffle(order)
        self.position += 1
        return iter(order)

    def state_dict(self):
        return {"position": self.position}

    def load_state_dict(self, state):
        self.loaded.append(state)
        self.position = state["position"]


@pytest.mark.parametrize("step", range(5))
def test_a_sampler_with_a_state_is_asked_for_it(step):
    loader = DataLoader(range(N), 5, sampler=Remembering())
    list(loader)
    iterator = iter(loader)
    for _ in range(step):
        next(iterator)
    state = json.loads(json.dumps(loader.state_dict()))
    sampler = Remembering()
    again = DataLoader(range(N), 5, sampler=sampler)
    again.load_state_dict(state)
    assert list(again) == list(iterator)
    assert sampler.loaded
    assert list(again) == list(loader)


def test_another_sampler_is_replayed():
    sampler = [5, 3, 1, 4, 9, 2, 6]
    loader = DataLoader(range(N), 2, sampler=sampler)
    iterator = iter(loader)
    assert next(iterator) == [5, 3]
    again = DataLoader(range(N), 2, sampler=sampler)
    again.load_state_dict(loader.state_dict())
    assert list(again) == [[1, 4], [9, 2], [6]]
    assert list(again) == [[5, 3], [1, 4], [9, 2], [6]]


def test_a_batch_sampler_is_replayed():
    groups = [[1], [2, 3], [4, 5, 6]]
    loader = DataLoader(range(N), batch_sampler=groups)
    iterator = iter(loader)
    next(iterator), next(iterator)
    again = DataLoader(range(N), batch_sampler=groups)
    again.load_state_dict(loader.state_dict())
    assert list(again) == [[4, 5, 6]]
    assert list(again) == groups


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_stream_goes_on_where_it_was(num_workers):
    class Stream:
        def __iter__(self):
            return iter(range(N))

    for step in range(5):
        with DataLoader(Stream(), 5, num_workers=num_workers, return_indices=True) as loader:
            iterator = iter(loader)
            for _ in range(step):
                next(iterator)
            state = loader.state_dict()
            rest = list(iterator)
        with DataLoader(Stream(), 5, num_workers=num_workers, return_indices=True) as again:
            again.load_state_dict(state)
            assert list(again) == rest


def test_items_without_batches_resume():
    loader = DataLoader(range(N), batch_size=None, shuffle=True, seed=1)
    iterator = iter(loader)
    for _ in range(7):
        next(iterator)
    again = DataLoader(range(N), batch_size=None, shuffle=True, seed=1)
    again.load_state_dict(loader.state_dict())
    assert list(again) == list(iterator)
