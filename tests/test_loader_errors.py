"""A user's exception keeps its type, its traceback and its place; policies leave out or substitute."""

import traceback

import pytest

from headrace import DataLoader, MapDataset

WORKERS = [0, 2]


class OddError(Exception):
    def __init__(self, code, reason):
        super().__init__(f"{code}: {reason}")
        self.code, self.reason = code, reason


class Flaky(MapDataset):
    """Raises `errors[index]`, else gives the index."""

    def __init__(self, errors, n=6):
        super().__init__()
        self.errors, self.n = errors, n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        if index in self.errors:
            raise self.errors[index]
        return index


@pytest.mark.parametrize("num_workers", WORKERS)
@pytest.mark.parametrize("error", [OddError(7, "odd"), KeyError("first\nsecond"), IndexError("3"), MemoryError("big")])
def test_an_exception_keeps_its_type_and_the_next_batch_follows(num_workers, error):
    with DataLoader(Flaky({3: error}), 2, num_workers=num_workers) as loader:
        iterator = iter(loader)
        assert next(iterator) == [0, 1]
        with pytest.raises(type(error)) as caught:
            next(iterator)
        assert next(iterator) == [4, 5]
        assert next(iterator, "end") == "end"
    assert type(caught.value) is type(error)
    assert caught.value.args == error.args
    if isinstance(error, OddError):
        assert (caught.value.code, caught.value.reason) == (7, "odd")


@pytest.mark.parametrize("num_workers", WORKERS)
def test_the_note_says_where(num_workers):
    dataset = Flaky({1235: LookupError("x")}, 1300)
    with (
        DataLoader(dataset, 2, num_workers=num_workers, sampler=range(1200, 1300)) as loader,
        pytest.raises(LookupError) as caught,
    ):
        list(loader)
    note = "\n".join(caught.value.__notes__)
    assert "1235" in note
    assert "17" in note.replace("1235", "")
    assert "batch" in note
    if num_workers:
        assert "worker" in note


@pytest.mark.parametrize("num_workers", WORKERS)
def test_the_traceback_shows_the_users_line(num_workers):
    with (
        DataLoader(Flaky({0: LookupError("x")}), num_workers=num_workers) as loader,
        pytest.raises(LookupError) as caught,
    ):
        next(iter(loader))
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert any(frame.name == "__getitem__" and frame.filename == __file__ for frame in frames)


@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_stop_iteration_becomes_a_runtime_error(num_workers):
    with DataLoader(Flaky({1: StopIteration("mine")}), num_workers=num_workers) as loader:
        iterator = iter(loader)
        assert next(iterator) == [0]
        with pytest.raises(RuntimeError) as caught:
            next(iterator)
        assert isinstance(caught.value.__cause__, StopIteration)
        assert list(iterator) == [[2], [3], [4], [5]]


@pytest.mark.parametrize("num_workers", WORKERS)
@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_what_is_no_exception_arrives_as_it_is(num_workers, kind):
    with DataLoader(Flaky({1: kind("3")}), num_workers=num_workers) as loader:
        iterator = iter(loader)
        assert next(iterator) == [0]
        with pytest.raises(kind):
            next(iterator)
        assert list(iterator) == [[2], [3], [4], [5]]


@pytest.mark.parametrize("num_workers", WORKERS)
@pytest.mark.parametrize("where", ["transform", "collate_fn", "__getitems__"])
def test_every_stage_is_heard(num_workers, where):
    class Batched(Flaky):
        def __getitems__(self, indices):
            if where == "__getitems__" and 2 in indices:
                raise OddError(1, where)
            return indices

    def transform(index, sample):
        if where == "transform" and index == 2:
            raise OddError(1, where)
        return sample

    def collate(samples):
        if where == "collate_fn" and 2 in samples:
            raise OddError(1, where)
        return samples

    with DataLoader(Batched({}), 2, num_workers=num_workers, transform=transform, collate_fn=collate) as loader:
        iterator = iter(loader)
        assert next(iterator) == [0, 1]
        with pytest.raises(OddError, match=f"1: {where}") as caught:
            next(iterator)
        assert list(iterator) == [[4, 5]]
    assert caught.value.__notes__


@pytest.mark.parametrize("num_workers", WORKERS)
def test_one_exception_object_raised_again_keeps_working(num_workers):
    with DataLoader(Flaky({1: OddError(1, "x")}), 2, num_workers=num_workers) as loader:
        for _ in range(3):
            with pytest.raises(OddError):
                list(loader)


@pytest.mark.parametrize("num_workers", WORKERS)
@pytest.mark.parametrize("item_concurrency", [1, 2])
def test_skip_leaves_out_and_records(num_workers, item_concurrency):
    errors = {1: LookupError("one"), 2: LookupError("two"), 3: LookupError("three")}
    with DataLoader(
        Flaky(errors), 2, num_workers=num_workers, item_concurrency=item_concurrency, on_error="skip"
    ) as loader:
        for epoch in range(2):
            assert list(loader) == [[0], [4, 5]]
            places = sorted((f.index, str(f.exception)) for f in loader.failures if f.epoch == epoch)
            assert places == [(1, "one"), (2, "two"), (3, "three")]


@pytest.mark.parametrize("num_workers", WORKERS)
def test_skip_covers_the_transform(num_workers):
    def transform(index, sample):
        return 12 // sample

    with DataLoader([3, 0, 4], 3, num_workers=num_workers, transform=transform, on_error="skip") as loader:
        assert list(loader) == [[4, 3]]
        assert [type(f.exception) for f in loader.failures] == [ZeroDivisionError]


@pytest.mark.parametrize("num_workers", WORKERS)
def test_skip_keeps_indices_beside_their_samples(num_workers):
    with DataLoader(
        Flaky({1: LookupError()}), 3, num_workers=num_workers, on_error="skip", return_indices=True
    ) as loader:
        assert list(loader) == [([0, 2], [0, 2]), ([3, 4, 5], [3, 4, 5])]


@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_callable_substitutes(num_workers):
    seen = []

    def substitute(failure):
        seen.append((failure.index, failure.epoch, type(failure.exception)))
        return -failure.index

    with DataLoader(Flaky({4: LookupError()}), 3, num_workers=num_workers, on_error=substitute) as loader:
        assert list(loader) == [[0, 1, 2], [3, -4, 5]]
        assert [f.index for f in loader.failures] == [4]
    assert seen == [(4, 0, LookupError)]


@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_substitution_that_raises_is_heard(num_workers):
    def substitute(failure):
        raise OddError(2, "none left")

    with DataLoader(Flaky({0: LookupError()}), 3, num_workers=num_workers, on_error=substitute) as loader:
        iterator = iter(loader)
        with pytest.raises(OddError, match="none left"):
            next(iterator)
        assert list(iterator) == [[3, 4, 5]]


@pytest.mark.parametrize("on_error", ["skip", lambda failure: 0])
@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_failing_collation_always_raises(on_error, num_workers):
    def collate(samples):
        raise OddError(3, "shapes")

    with (
        DataLoader([1, 2], 2, num_workers=num_workers, on_error=on_error, collate_fn=collate) as loader,
        pytest.raises(OddError),
    ):
        list(loader)


@pytest.mark.parametrize("num_workers", WORKERS)
def test_skip_does_not_swallow_an_exit(num_workers):
    with (
        DataLoader(Flaky({0: SystemExit(3)}), num_workers=num_workers, on_error="skip") as loader,
        pytest.raises(SystemExit),
    ):
        next(iter(loader))


def test_the_record_of_failures_is_bounded():
    class Broken(MapDataset):
        def __len__(self):
            return 6000

        def __getitem__(self, index):
            raise LookupError(index)

    loader = DataLoader(Broken(), 100, on_error="skip")
    for _ in range(2):
        assert list(loader) == []
    assert len(loader.failures) == 10_000
