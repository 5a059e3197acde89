"""`sample_rng`: keyed by seed, epoch and index, whatever runs the item."""

import random

import numpy as np
import pytest

from headrace import DataLoader, MapDataset, sample_rng


class Draws(MapDataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        return index, int(sample_rng().integers(2**62))


def epochs(n=2, **arguments):
    with DataLoader(Draws(), batch_size=3, **arguments) as loader:
        return [dict(pair for batch in loader for pair in batch) for _ in range(n)]


def test_no_two_items_and_no_two_epochs_are_alike():
    first, second = epochs(rng_seed=1)
    assert len({*first.values(), *second.values()}) == 40


@pytest.mark.parametrize(
    "arguments",
    [{"num_workers": 1}, {"num_workers": 4}, {"item_concurrency": 3}, {"batch_size": 1}, {"in_order": False}],
)
def test_workers_do_not_change_the_draws(arguments):
    expected = epochs(rng_seed=1)
    with DataLoader(Draws(), **{"batch_size": 3, "rng_seed": 1, **arguments}) as loader:
        assert [dict(pair for batch in loader for pair in batch) for _ in range(2)] == expected


def test_the_draw_of_an_item_does_not_depend_on_the_order():
    plain = epochs(rng_seed=9)
    assert epochs(rng_seed=9, shuffle=True, seed=4) == plain
    assert epochs(rng_seed=8) != plain


def test_the_seed_keys_it_without_a_seed_of_its_own():
    assert epochs(shuffle=True, seed=4) == epochs(shuffle=True, seed=4, num_workers=2)
    assert epochs(shuffle=True, seed=4) != epochs(shuffle=True, seed=5)
    assert epochs() != epochs()


def test_it_is_one_generator_for_an_item_and_goes_on_in_the_transform():
    class Twice(Draws):
        def __getitem__(self, index):
            assert sample_rng() is sample_rng()
            return sample_rng().random()

    def transform(index, sample):
        return sample, sample_rng().random()

    with DataLoader(Twice(), 20, rng_seed=3, transform=transform) as loader:
        pairs = next(iter(loader))
    assert len({draw for pair in pairs for draw in pair}) == 40
    assert all(isinstance(sample_rng_type, float) for sample_rng_type, _ in pairs)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_transform_has_it_for_batched_datasets_and_streams(num_workers):
    class Rows(Draws):
        def __getitems__(self, indices):
            return indices

    class Stream:
        def __iter__(self):
            return iter(range(20))

    def draw(index, sample):
        return index, int(sample_rng().integers(2**62))

    results = []
    for dataset in (Rows(), Stream(), list(range(20))):
        with DataLoader(dataset, 3, rng_seed=1, num_workers=num_workers, transform=draw) as loader:
            results.append(dict(pair for batch in loader for pair in batch))
    assert results == [epochs(1, rng_seed=1)[0]] * 3


def test_it_is_a_numpy_generator():
    with DataLoader([0], transform=lambda i, x: type(sample_rng())) as loader:
        assert list(loader) == [[np.random.Generator]]


def test_outside_an_item_it_is_refused():
    with pytest.raises(RuntimeError, match="sample_rng"):
        sample_rng()
    list(DataLoader(Draws()))
    with pytest.raises(RuntimeError):
        sample_rng()
    with pytest.raises(RuntimeError):
        list(DataLoader([1], collate_fn=lambda samples: sample_rng()))


@pytest.mark.parametrize("num_workers", [0, 3])
def test_the_global_generators_are_left_alone(num_workers):
    class Global(MapDataset):
        def __len__(self):
            return 12

        def __getitem__(self, index):
            sample_rng().random()
            return random.random(), float(np.random.random())

    random.seed(1)
    np.random.seed(1)
    expected = {random.random() for _ in range(12)}, {float(np.random.random()) for _ in range(12)}
    random.seed(1)
    np.random.seed(1)
    with DataLoader(Global(), 2, num_workers=num_workers, shuffle=True) as loader:
        pairs = [pair for batch in loader for pair in batch]
    assert ({a for a, _ in pairs}, {b for _, b in pairs}) == expected


def test_a_resumed_epoch_draws_the_same():
    with DataLoader(Draws(), 3, shuffle=True, num_workers=2) as loader:
        iterator = iter(loader)
        next(iterator)
        state = loader.state_dict()
        rest = list(iterator)
    with DataLoader(Draws(), 3, shuffle=True) as again:
        again.load_state_dict(state)
        assert list(again) == rest
