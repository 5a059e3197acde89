"""Whatever stands in a chain, rows by position and rows in a stream are the same."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.shards.mixing import MixedRows, counts_of
from headrace.shards.rows import ConcatRows, FilteredRows, ListRows, MappedRows, Rows, SelectedRows, ZippedRows


def is_even(value: int) -> bool:
    return value % 2 == 0


def triple(value: int) -> int:
    return value * 3


class Damaged(ListRows[int]):
    """Rows told to leave out those divisible by 5."""

    def many(self, positions: Any) -> list[tuple[int, int]]:
        return [(at, row) for at, row in super().many(positions) if row % 5]


ITEMS = st.lists(st.integers(0, 1000), max_size=200)


@st.composite
def chains(draw: st.DrawFn) -> tuple[Rows[int], list[int]]:
    """Rows of some depth, and the plain list that they stand for."""
    items = draw(ITEMS)
    rows: Rows[int] = ListRows(items)
    for step in draw(st.lists(st.sampled_from(["map", "filter", "slice", "take", "concat"]), max_size=5)):
        if step == "map":
            rows, items = MappedRows(rows, triple), [triple(item) for item in items]
        elif step == "filter":
            rows, items = FilteredRows(rows, is_even), [item for item in items if is_even(item)]
        elif step == "slice":
            places = range(len(items))[draw(st.slices(len(items)))]
            rows, items = SelectedRows(rows, places), [items[at] for at in places]
        elif step == "take" and items:
            chosen = draw(st.lists(st.integers(0, len(items) - 1), max_size=20))
            rows, items = SelectedRows(rows, np.array(chosen, dtype=np.int64)), [items[at] for at in chosen]
        elif step == "concat":
            more = draw(ITEMS)
            rows, items = ConcatRows([rows, ListRows(more)]), items + more
    return rows, items


@given(chains(), st.data())
def test_a_chain_is_the_list_it_stands_for(chain: tuple[Rows[int], list[int]], data: st.DataObject) -> None:
    rows, items = chain
    assert list(rows.stream()) == list(enumerate(items))
    assert len(rows) == len(items)
    if items:
        places = data.draw(st.lists(st.integers(0, len(items) - 1), max_size=30))
        assert rows.many(places) == [(at, items[at]) for at in places]
    assert list(pickle.loads(pickle.dumps(rows)).stream()) == list(enumerate(items))


def test_damaged_rows_are_left_out_under_the_positions_of_the_rest() -> None:
    rows = SelectedRows(Damaged(list(range(20))), np.array([7, 5, 5, 7, 10, 11], dtype=np.int64))
    assert rows.many(range(6)) == [(0, 7), (3, 7), (5, 11)]
    both = ZippedRows([Damaged(list(range(10))), ListRows(list(range(10)))])
    assert [at for at, _ in both.stream()] == [1, 2, 3, 4, 6, 7, 8, 9]
    joined = ConcatRows([Damaged(list(range(6))), Damaged(list(range(6)))])
    assert joined.many([0, 1, 6, 7, 11, 10]) == [(1, 1), (7, 1), (10, 4)]


def test_zip_needs_one_length() -> None:
    with pytest.raises(ValueError, match=r"one length; these have \[3, 2\]"):
        ZippedRows([ListRows([1, 2, 3]), ListRows([1, 2])])


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=5), st.integers(0, 2**64 - 1))
def test_a_mixture_without_weights_gives_every_row_once_in_its_own_order(lengths: list[int], seed: int) -> None:
    rows = MixedRows([ListRows(range(length)) for length in lengths], None, seed)
    places = [rows.place(position) for position in range(len(rows))]
    assert len(places) == sum(lengths)
    for which, length in enumerate(lengths):
        assert [row for parent, row in places if parent == which] == list(range(length))


def test_a_mixture_keeps_its_proportions_all_along() -> None:
    lengths = [90_000, 9_000, 1_000]
    rows = MixedRows([ListRows(range(length)) for length in lengths], None, seed=3)
    given = np.zeros(3)
    for position in range(50_000):
        given[rows.place(position)[0]] += 1
    assert np.abs(given - np.array([45_000, 4_500, 500])).max() < 600


def test_weights_stop_before_the_first_dataset_runs_out() -> None:
    assert counts_of([100, 1000], [0.5, 0.5]) == [100, 100]
    assert counts_of([100, 1000], [1, 9]) == [100, 900]
    assert counts_of([100, 1000], [0, 1]) == [0, 1000]
    assert counts_of([7, 9], None) == [7, 9]


@pytest.mark.parametrize("weights", [[1.0], [-1.0, 2.0], [0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_weights_that_make_no_proportion_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        counts_of([10, 10], weights)


def test_the_seed_fixes_the_order() -> None:
    def order(seed: int) -> list[tuple[int, int]]:
        rows = MixedRows([ListRows(range(500)), ListRows(range(300))], [1, 1], seed)
        return [rows.place(position) for position in range(len(rows))]

    assert order(1) == order(1)
    assert order(1) != order(2)
    rows = MixedRows([ListRows(range(500)), ListRows(range(300))], [2, 1], 5)
    assert [row for _, row in pickle.loads(pickle.dumps(rows)).stream()] == [row for _, row in rows.stream()]
