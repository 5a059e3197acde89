"""Arguments: torch's order and keywords, the refusals, and what a refusal says."""

import inspect
import random
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import headrace
from headrace import DataLoader, MapDataset

TEN = list(range(10))


def test_positional_arguments_come_in_the_order_of_torch():
    names = [name for name, p in inspect.signature(DataLoader).parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    expected = ["dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn"]
    expected += ["pin_memory", "drop_last", "timeout", "worker_init_fn"]
    assert names == expected


def test_positional_call():
    assert list(DataLoader(TEN, 4, False, [3, 1, 2], None, 0, sum)) == [6]


def test_the_older_names_are_aliases():
    assert headrace.PyDataloader is DataLoader
    assert headrace.PyDataset is MapDataset


def test_the_class_takes_a_batch_type():
    assert DataLoader[list[int]] is not None


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"batch_size": -1}, ValueError, "batch_size"),
        ({"batch_size": 1.5}, TypeError, "batch_size"),
        ({"batch_size": "4"}, TypeError, "batch_size"),
        ({"num_workers": -1}, ValueError, "num_workers"),
        ({"num_workers": "many"}, (ValueError, TypeError), "num_workers"),
        ({"prefetch_depth": 0, "num_workers": 2}, ValueError, "prefetch_depth"),
        ({"item_concurrency": 0}, ValueError, "item_concurrency"),
        ({"timeout": -1}, ValueError, "timeout"),
        ({"seed": 1}, ValueError, "seed"),
        ({"shuffle": True, "sampler": [1, 2]}, ValueError, "sampler"),
        ({"sampler": 5}, TypeError, "sampler"),
        ({"batch_sampler": 5}, TypeError, "batch_sampler"),
        ({"batch_sampler": [[1]], "batch_size": 2}, ValueError, "batch_size"),
        ({"batch_sampler": [[1]], "shuffle": True}, ValueError, "shuffle"),
        ({"batch_sampler": [[1]], "sampler": [1]}, ValueError, "sampler"),
        ({"batch_sampler": [[1]], "drop_last": True}, ValueError, "drop_last"),
        ({"batch_size": None, "drop_last": True}, ValueError, "drop_last"),
        ({"prefetch_factor": 2}, ValueError, "prefetch_factor"),
        ({"prefetch_factor": 2, "prefetch_depth": 3, "num_workers": 2}, ValueError, "prefetch_factor"),
        ({"prefetch_factor": 0, "num_workers": 2}, ValueError, "prefetch_factor"),
        ({"shuffle": True, "seed": 1, "generator": random.Random(1)}, ValueError, "generator"),
        ({"shuffle": True, "generator": 3}, TypeError, "generator"),
        ({"runtime_threads": 2}, ValueError, "runtime_threads"),
        ({"workers": "goblins"}, ValueError, "workers"),
        ({"shard": (2, 2)}, ValueError, "shard"),
        ({"shard": (-1, 2)}, ValueError, "shard"),
        ({"shard": (0, 0)}, ValueError, "shard"),
        ({"shard": "elsewhere"}, (ValueError, TypeError), "shard"),
        ({"shard": (0, 2), "even": "odd"}, ValueError, "even"),
        ({"on_error": "ignore"}, (ValueError, TypeError), "on_error"),
        ({"transform": 3}, TypeError, "transform"),
        ({"collate_fn": 3}, TypeError, "collate_fn"),
        ({"worker_init_fn": 3}, TypeError, "worker_init_fn"),
    ],
)
def test_a_refused_argument_is_named(arguments, error, word):
    with pytest.raises(error, match=word):
        DataLoader(TEN, **arguments)


def test_a_refusal_says_what_was_given():
    with pytest.raises(ValueError, match="-7"):
        DataLoader(TEN, batch_size=-7)


def test_an_unknown_keyword_is_refused():
    with pytest.raises(TypeError, match="batchsize"):
        DataLoader(TEN, batchsize=3)


@pytest.mark.parametrize("dataset", [5, None, object()])
def test_what_is_no_dataset_is_refused(dataset):
    with pytest.raises(TypeError, match="dataset"):
        DataLoader(dataset)


def test_a_dataset_without_length_is_refused():
    class Lengthless:
        def __getitem__(self, index):
            return index

    with pytest.raises(TypeError, match="__len__"):
        DataLoader(Lengthless())


def test_an_async_method_on_a_plain_dataset_is_refused():
    class Wrong(MapDataset):
        def __len__(self):
            return 3

        async def __getitem__(self, index):
            return index

    with pytest.raises(TypeError, match="__getitem__"):
        DataLoader(Wrong())


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_coroutine_from_a_plain_getitem_is_a_type_error(num_workers):
    async def fetch(index):
        return index

    class Forgetful(MapDataset):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return fetch(index)

    with DataLoader(Forgetful(), num_workers=num_workers) as loader, pytest.raises(TypeError):
        next(iter(loader))


def test_items_in_parallel_is_the_older_name_of_item_concurrency():
    with pytest.warns(DeprecationWarning, match="item_concurrency"):
        loader = DataLoader(TEN, batch_size=5, items_in_parallel=2)
    assert list(loader) == [TEN[:5], TEN[5:]]


@pytest.mark.parametrize(
    "arguments",
    [
        {"timeout": 3},
        {"timeout": 30, "num_workers": 2},
        {"persistent_workers": True, "num_workers": 2},
        {"persistent_workers": False},
        {"pin_memory": False},
        {"prefetch_factor": None},
        {"prefetch_factor": 3, "num_workers": 2},
        {"multiprocessing_context": None},
        {"in_order": True},
        {"worker_init_fn": None},
        {"generator": None},
        {"num_workers": "auto"},
        {"num_workers": np.int64(2)},
        {"batch_size": np.int64(4)},
        {"runtime_threads": None},
        {"rng_seed": 5},
        {"workers": "threads"},
    ],
)
def test_an_accepted_keyword_changes_no_item(arguments):
    with DataLoader(TEN, **{"batch_size": 4, **arguments}) as loader:
        assert [item for batch in loader for item in batch] == TEN


@pytest.mark.parametrize("make", [lambda: random.Random(5), lambda: np.random.default_rng(5)])
def test_a_generator_makes_the_order_reproducible(make):
    def orders():
        loader = DataLoader(range(50), shuffle=True, batch_size=50, generator=make())
        return [next(iter(loader)) for _ in range(2)]

    first, second = orders()
    assert sorted(first) == list(range(50))
    assert first != second
    assert orders() == [first, second]


def test_worker_init_fn_is_called_once_in_each_worker():
    calls, both = [], threading.Barrier(2)

    def start(number):
        calls.append((number, threading.get_ident()))

    class Together(MapDataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            if index < 2:
                both.wait(30)
            return index, threading.get_ident()

    with DataLoader(Together(), num_workers=2, worker_init_fn=start) as loader:
        threads = {batch[0][1] for _ in range(2) for batch in (loader if not calls else [])}
    assert sorted(number for number, _ in calls) == [0, 1]
    assert {ident for _, ident in calls} == threads


def test_a_worker_init_fn_that_raises_is_heard():
    def start(number):
        raise LookupError("no such device")

    with DataLoader(TEN, num_workers=2, worker_init_fn=start) as loader, pytest.raises(LookupError, match="no such"):
        list(loader)


def test_pin_memory_without_cuda_warns_once_a_process():
    pytest.importorskip("headrace")
    if "torch" in sys.modules:
        pytest.skip("torch is loaded")
    script = """
        import sys, warnings
        sys.modules["torch"] = None  # as where it is not installed
        from headrace import DataLoader
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for _ in range(2):
                loader = DataLoader(list(range(4)), batch_size=2, pin_memory=True, num_workers=1)
                for _ in range(2):
                    assert list(loader) == [[0, 1], [2, 3]]
        print(len([w for w in seen if "pin_memory" in str(w.message)]))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "1"), done.stderr
