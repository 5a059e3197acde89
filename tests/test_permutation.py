"""The keyed permutation: a bijection, equal to its reference, and even."""

import pickle
import random
from itertools import pairwise

import numpy as np
import pytest

from headrace.samplers.permutation import Permutation
from headrace.testing.reference import ReferencePermutation


@pytest.mark.parametrize("key", [0, 2**64 - 1])
def test_every_small_size_is_a_bijection(key: int) -> None:
    for n in range(601):
        assert sorted(Permutation(n, key).indices(0, n)) == list(range(n))


@pytest.mark.parametrize("n", [65_535, 65_536, 65_537, 1_000_003])
def test_larger_sizes_are_bijections(n: int) -> None:
    block = Permutation(n, 3).block(0, n)
    assert block.dtype == np.int64
    assert np.array_equal(np.sort(block), np.arange(n))


@pytest.mark.parametrize(
    "n", [1, 2, 7, 255, 256, 257, 511, 513, 5_000, 2**31 + 5, 2**32, 2**33 + 1, 2**62 + 1, 2**63 - 1]
)
@pytest.mark.parametrize("key", [0, 1, 0xDEADBEEF, 2**64 - 1])
def test_equals_the_reference(n: int, key: int) -> None:
    order, reference = Permutation(n, key), ReferencePermutation(n, key)
    for place in {0, n // 3, n // 2, n - 1, *range(min(n, 50))}:
        assert order[place] == reference[place]


@pytest.mark.parametrize("n", [2, 3, 5, 8, 13])
def test_positions_are_even_over_keys(n: int) -> None:
    keys, draw = 20_000, random.Random(0)
    counts = np.zeros((n, n))
    for _ in range(keys):
        counts[np.arange(n), Permutation(n, draw.getrandbits(64)).indices(0, n)] += 1
    chi_square = ((counts - keys / n) ** 2 / (keys / n)).sum()
    freedom = (n - 1) ** 2
    assert chi_square < freedom + 5 * (2 * freedom) ** 0.5


def test_neighbours_and_neighbouring_keys_are_unrelated() -> None:
    n = 4_096
    blocks = [Permutation(n, key).block(0, n).astype(float) for key in range(20)]
    for one, other in pairwise(blocks):
        assert abs(np.corrcoef(one, other)[0, 1]) < 5 / n**0.5
        assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 5 / n**0.5


def test_blocks_and_steps() -> None:
    n = 100_000
    order = Permutation(n, 9)
    whole = order.block(0, n)
    assert np.array_equal(order.block(3, n, 7), whole[3::7])
    assert np.array_equal(order.block(n - 1, -1, -1), whole[::-1])
    assert order.indices(5, 4, 1000) == whole[5:4_005:1000].tolist()
    assert order.block(50, 50).shape == (0,)


def test_indices_from_the_end_and_beyond() -> None:
    order = Permutation(10, 1)
    assert [order[place] for place in range(-10, 0)] == order.indices(0, 10)
    for place in (10, -11, 2**70, -(2**70)):
        with pytest.raises(IndexError):
            order[place]
    for start, count in [(0, 11), (10, 1), (-1, 2)]:
        with pytest.raises(IndexError):
            order.indices(start, count)
    with pytest.raises(IndexError):
        order.block(0, 11)
    with pytest.raises(IndexError):
        Permutation(0, 1)[0]
    assert list(Permutation(3, 1)) == Permutation(3, 1).indices(0, 3)


@pytest.mark.parametrize("key", [-1, 2**64])
def test_a_key_outside_its_range_is_named(key: int) -> None:
    with pytest.raises(ValueError, match=rf"key must lie in \[0, 2\*\*64\), found {key}"):
        Permutation(5, key)


@pytest.mark.parametrize("n", [-1, 2**63, 2**64])
def test_a_size_outside_its_range_is_named(n: int) -> None:
    with pytest.raises(ValueError, match="n must lie in"):
        Permutation(n, 0)


def test_fill_refuses_other_buffers() -> None:
    native = Permutation(10, 0)._native
    read_only = np.zeros(3, dtype=np.int64)
    read_only.flags.writeable = False
    for out in (np.zeros(3, dtype=np.float64), read_only, np.zeros(6, dtype=np.int64)[::2]):
        with pytest.raises(BufferError):
            native.fill(out, 0)


def test_pickles() -> None:
    assert pickle.loads(pickle.dumps(Permutation(9, 4))).indices(0, 9) == Permutation(9, 4).indices(0, 9)
