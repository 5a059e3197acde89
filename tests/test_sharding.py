"""Distributed sharding: as torch's DistributedSampler, the same number of batches on every rank."""

import itertools

import pytest

from headrace import DataLoader


def shards(world, n=24, dataset=None, **arguments):
    dataset = range(n) if dataset is None else dataset
    return [list(DataLoader(dataset, shard=(rank, world), **arguments)) for rank in range(world)]


def flat(batches):
    return [item for batch in batches for item in batch]


@pytest.mark.parametrize("world", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("n", [1, 2, 10, 24])
@pytest.mark.parametrize("shuffle", [False, True])
def test_padded_shards_are_those_of_torch(world, n, shuffle):
    order = {"shuffle": True, "seed": 5} if shuffle else {}
    whole = flat(DataLoader(range(n), **order))
    padded = list(itertools.islice(itertools.cycle(whole), -(-n // world) * world))
    for rank, batches in enumerate(shards(world, n, batch_size=3, **order)):
        assert flat(batches) == padded[rank::world]


@pytest.mark.parametrize("world", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("n", [1, 2, 10, 24])
def test_dropped_shards_are_equal_and_disjoint(world, n):
    whole = flat(DataLoader(range(n), shuffle=True, seed=5))
    kept = whole[: n // world * world]
    for rank, batches in enumerate(shards(world, n, even="drop", batch_size=3, shuffle=True, seed=5)):
        assert flat(batches) == kept[rank::world]


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("even", ["pad", "drop"])
@pytest.mark.parametrize("num_workers", [0, 2])
def test_every_rank_has_the_same_number_of_batches(drop_last, even, num_workers):
    for world, n, batch_size in itertools.product([2, 3, 5], [7, 24], [1, 2, 4]):
        lengths = set()
        for rank in range(world):
            with DataLoader(
                range(n), batch_size, shard=(rank, world), even=even, drop_last=drop_last, num_workers=num_workers
            ) as loader:
                batches = list(loader)
                assert len(loader) == len(batches)
                lengths.add(tuple(len(batch) for batch in batches))
        assert len(lengths) == 1


def test_a_sampler_is_sharded_by_its_sequence():
    assert shards(2, sampler=[9, 8, 7, 6, 5], batch_size=2) == [[[9, 7], [5]], [[8, 6], [9]]]
    assert shards(2, sampler=[9, 8, 7, 6, 5], batch_size=2, even="drop") == [[[9, 7]], [[8, 6]]]


def test_a_batch_sampler_is_sharded_by_batches():
    groups = [[0, 1], [2], [3, 4], [5], [6], [7]]
    assert shards(2, batch_sampler=groups) == [[[0, 1], [3, 4], [6]], [[2], [5], [7]]]


@pytest.mark.parametrize("even", ["pad", "drop"])
def test_a_batch_sampler_gives_every_rank_as_many_batches(even):
    first, second = shards(2, batch_sampler=[[0], [1], [2]], even=even)
    assert len(first) == len(second) == (2 if even == "pad" else 1)


def test_a_stream_is_sharded_by_items():
    class Stream:
        def __iter__(self):
            return iter(range(12))

    assert shards(3, dataset=Stream(), batch_size=2) == [
        [[0, 3], [6, 9]],
        [[1, 4], [7, 10]],
        [[2, 5], [8, 11]],
    ]


def test_the_epoch_changes_the_order_on_every_rank_alike():
    loaders = [DataLoader(range(20), 20, shuffle=True, seed=1, shard=(rank, 2)) for rank in range(2)]
    epochs = [flat(flat(loader) for loader in loaders) for _ in range(2)]
    assert epochs[0] != epochs[1]
    assert all(sorted(epoch) == list(range(20)) for epoch in epochs)


def test_without_a_seed_the_ranks_still_agree_or_are_told():
    """Ranks that draw seeds of their own would lose samples in silence."""
    try:
        ranks = shards(2, 40, batch_size=40, shuffle=True)
    except ValueError as error:
        assert "seed" in str(error)
    else:
        assert sorted(flat(flat(ranks))) == list(range(40))


VARIABLES = [
    ("RANK", "WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
]


@pytest.fixture
def bare(monkeypatch):
    for name in itertools.chain(*VARIABLES):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("names", VARIABLES, ids=lambda names: names[0])
def test_the_environment_names_the_rank(bare, names):
    bare.setenv(names[0], "1")
    bare.setenv(names[1], "3")
    assert flat(DataLoader(range(9), shard="env")) == [1, 4, 7]


def test_the_variables_of_torchrun_come_first(bare):
    for names, rank in zip(VARIABLES, "120", strict=True):
        bare.setenv(names[0], rank)
        bare.setenv(names[1], "3")
    assert flat(DataLoader(range(9), shard="env")) == [1, 4, 7]


def test_an_environment_without_ranks_is_one_rank(bare):
    assert flat(DataLoader(range(5), shard="env")) == list(range(5))


def test_an_environment_that_is_no_number_is_refused(bare):
    bare.setenv("RANK", "first")
    bare.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="RANK"):
        DataLoader(range(5), shard="env")
