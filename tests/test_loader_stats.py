"""Counts, seconds and the report."""

import dataclasses
import threading

import pytest

from headrace import DataLoader, MapDataset


@pytest.mark.parametrize("num_workers", [0, 2])
def test_counts(num_workers):
    with DataLoader(list(range(10)), 4, num_workers=num_workers) as loader:
        assert (loader.stats().batches, loader.stats().samples) == (0, 0)
        iterator = iter(loader)
        next(iterator)
        assert (loader.stats().batches, loader.stats().samples) == (1, 4)
        list(iterator)
        assert (loader.stats().batches, loader.stats().samples) == (3, 10)
        stats = loader.stats()
    assert set(stats.seconds) >= {"fetch", "transform", "collate", "consumer", "wait"}
    assert all(seconds >= 0 for seconds in stats.seconds.values())
    assert dataclasses.is_dataclass(stats)
    with pytest.raises(dataclasses.FrozenInstanceError):
        stats.batches = 3
    assert 0 <= stats.workers_awake <= num_workers


@pytest.mark.parametrize("num_workers", [0, 2])
def test_the_report_is_text(num_workers):
    with DataLoader(list(range(10)), 4, num_workers=num_workers) as loader:
        assert isinstance(loader.report(), str)
        list(loader)
        assert len(loader.report()) > 20


def test_a_slow_fetch_is_named():
    class Slow(MapDataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            threading.Event().wait(0.02)
            return index

    with DataLoader(Slow(), num_workers=1) as loader:
        list(loader)
        assert "fetch" in loader.report()


def test_skipped_samples_are_not_counted_as_given():
    with DataLoader([1, 0, 2, 0], 2, transform=lambda i, x: 1 // x, on_error="skip") as loader:
        list(loader)
        assert loader.stats().samples == 2


def test_a_progress_bar_has_a_total():
    assert len(DataLoader(list(range(10)), 4)) == 3


def test_items_that_become_slow_wake_the_workers_again():
    class Cooling(MapDataset):
        def __len__(self):
            return 2300

        def __getitem__(self, index):
            if index >= 2000:
                threading.Event().wait(0.002)
            return index

    with DataLoader(Cooling(), num_workers=4) as loader:
        assert [batch[0] for batch in loader] == list(range(2300))
        assert loader.stats().workers_awake > 1
