"""Starting, waiting, leaving, closing, forking, interrupting: nothing hangs and nothing is left."""

import gc
import queue
import subprocess
import sys
import textwrap
import threading
import weakref

import pytest

from headrace import DataLoader, MapDataset

WORKERS = [1, 4]


class Gate(MapDataset):
    """Items from `closed_at` on wait for `release`; `entered` is set when one does."""

    def __init__(self, n=8, closed_at=0, open_from=10**9):
        super().__init__()
        self.n, self.closed_at, self.open_from = n, closed_at, open_from
        self.entered, self.release = threading.Event(), threading.Event()

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        if self.closed_at <= index < self.open_from:
            self.entered.set()
            assert self.release.wait(60)
        return index


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.release.set()


def run(script, *, returncode=0):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == returncode, done.stderr
    return done.stdout.split()


def ends(threads):
    for thread in threads:
        thread.join(30)
    return not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_timeout_raises_and_the_iterator_stays_usable(gate, num_workers):
    with DataLoader(gate, num_workers=num_workers, timeout=0.05) as loader:
        iterator = iter(loader)
        for _ in range(2):
            with pytest.raises(TimeoutError):
                next(iterator)
        gate.release.set()
        items = []
        while len(items) < 8:
            try:
                items += next(iterator)
            except TimeoutError:
                continue
        assert items == list(range(8))


@pytest.mark.parametrize("num_workers", WORKERS)
def test_close_returns_though_a_worker_is_blocked(gate, num_workers):
    loader = DataLoader(gate, num_workers=num_workers)
    iterator = iter(loader)
    assert gate.entered.wait(30)
    loader.close()
    loader.close()
    with pytest.raises(RuntimeError, match="clos"):
        next(iterator)
    with pytest.raises(RuntimeError, match="clos"):
        iter(loader)


def test_a_closed_loader_without_workers():
    loader = DataLoader([1, 2])
    iterator = iter(loader)
    next(iterator)
    loader.close()
    with pytest.raises(RuntimeError):
        next(iterator)
    with pytest.raises(RuntimeError):
        iter(loader)


def test_with_gives_the_loader_and_closes_it():
    with DataLoader([1, 2], num_workers=2) as loader:
        assert list(loader) == [[1], [2]]
    with pytest.raises(RuntimeError):
        iter(loader)


def test_close_ends_a_next_that_waits_in_another_thread(gate):
    loader = DataLoader(gate, num_workers=1)
    iterator = iter(loader)
    results = queue.Queue()

    def consume():
        try:
            results.put(next(iterator))
        except BaseException as error:
            results.put(type(error))

    thread = threading.Thread(target=consume)
    thread.start()
    assert gate.entered.wait(30)
    loader.close()
    assert results.get(timeout=30) is RuntimeError
    thread.join(30)


@pytest.mark.parametrize("num_workers", WORKERS)
def test_leaving_early_returns_though_a_worker_is_blocked(num_workers):
    gate = Gate(closed_at=1)
    loader = DataLoader(gate, num_workers=num_workers)
    for batch in loader:
        assert batch == [0]
        break
    gate.release.set()
    assert [batch[0] for batch in loader] == list(range(8))
    loader.close()


@pytest.mark.parametrize("num_workers", WORKERS)
def test_the_next_epoch_does_not_wait_for_the_one_that_was_left(num_workers):
    entered, release, calls = threading.Event(), threading.Event(), []

    class BlocksOnce(MapDataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            if index == 1 and not calls:
                calls.append(index)
                entered.set()
                assert release.wait(60)
            return index

    with DataLoader(BlocksOnce(), num_workers=num_workers + 1) as loader:
        iterator = iter(loader)
        assert next(iterator) == [0]
        assert entered.wait(30)
        del iterator
        assert [batch[0] for batch in loader] == list(range(8))
        release.set()


@pytest.mark.parametrize("num_workers", [0, 2])
def test_leaving_early_a_thousand_times_leaves_nothing(num_workers):
    class Item:
        pass

    alive, lock = weakref.WeakSet(), threading.Lock()

    class Items(MapDataset):
        def __len__(self):
            return 64

        def __getitem__(self, index):
            item = Item()
            with lock:
                alive.add(item)
            return item

    before = set(threading.enumerate())
    loader = DataLoader(Items(), 2, num_workers=num_workers)
    for _ in range(1000):
        for batch in loader:
            assert len(batch) == 2
            break
    del batch
    started = set(threading.enumerate()) - before
    assert len(started) <= 16 * num_workers  # those whose last batch was still running when the next loop began
    loader.close()
    del loader
    gc.collect()
    assert ends(started)
    gc.collect()
    assert len(alive) == 0


@pytest.mark.parametrize("how", ["finished", "left", "unused iterator", "closed"])
def test_no_thread_is_left_after_the_loader_is_dropped(how):
    before = set(threading.enumerate())
    loader = DataLoader(list(range(40)), num_workers=3, item_concurrency=2, batch_size=4)
    iterator = iter(loader)
    if how != "unused iterator":
        next(iterator)
    if how == "finished":
        list(iterator)
    if how == "closed":
        loader.close()
    started = set(threading.enumerate()) - before
    reference = weakref.ref(loader)
    del loader, iterator
    gc.collect()
    assert reference() is None
    assert ends(started)


def test_an_iterator_outlives_the_name_of_its_loader():
    iterator = iter(DataLoader(list(range(20)), num_workers=2))
    gc.collect()
    assert [batch[0] for batch in iterator] == list(range(20))


def test_the_dataset_is_let_go():
    dataset = Gate()
    dataset.release.set()
    reference = weakref.ref(dataset)
    before = set(threading.enumerate())
    loader = DataLoader(dataset, num_workers=2)
    list(loader)
    started = set(threading.enumerate()) - before
    del dataset, loader
    gc.collect()
    assert ends(started)
    gc.collect()
    assert reference() is None


def test_workers_are_kept_between_epochs():
    seen = []
    with DataLoader(range(20), num_workers=2, worker_init_fn=seen.append) as loader:
        for _ in range(20):
            list(loader)
    assert len(seen) <= 2


@pytest.mark.parametrize("num_workers", [0, 2])
def test_two_loaders_over_one_dataset(num_workers):
    data = list(range(30))
    with DataLoader(data, 4, num_workers=num_workers) as a, DataLoader(data, 4, num_workers=num_workers) as b:
        for left, right in zip(a, b, strict=True):
            assert left == right


@pytest.mark.parametrize("num_workers", [0, 2])
def test_one_loader_iterated_twice_at_the_same_time(num_workers):
    with DataLoader(range(30), 4, shuffle=True, seed=1, num_workers=num_workers) as loader:
        expected = list(loader), list(loader)
        loader.set_epoch(0)
        pairs = list(zip(loader, loader, strict=True))
        assert ([a for a, _ in pairs], [b for _, b in pairs]) == expected


@pytest.mark.parametrize("inner_workers", [0, 2])
@pytest.mark.parametrize("outer_workers", [0, 2])
def test_a_loader_inside_a_transform_of_another(inner_workers, outer_workers):
    def transform(index, sample):
        with DataLoader(range(sample), 2, num_workers=inner_workers, transform=lambda i, x: -x) as inner:
            return [item for batch in inner for item in batch]

    with DataLoader(range(6), 2, num_workers=outer_workers, transform=transform) as loader:
        assert [item for batch in loader for item in batch] == [[-x for x in range(n)] for n in range(6)]


def test_iterating_a_shared_loader_inside_a_worker():
    box = {}

    def transform(index, sample):
        return len(list(box["inner"])) if index == 0 else sample

    with DataLoader(range(3)) as inner, DataLoader(range(2), num_workers=1, transform=transform) as loader:
        box["inner"] = inner
        assert list(loader) == [[3], [1]]


@pytest.mark.parametrize("num_workers", [0, 1])
def test_a_second_thread_in_next_is_refused(gate, num_workers):
    results = queue.Queue()
    with DataLoader(gate, num_workers=num_workers) as loader:
        iterator = iter(loader)

        def consume():
            try:
                results.put(next(iterator))
            except BaseException as error:
                results.put(type(error))

        threads = [threading.Thread(target=consume) for _ in range(2)]
        for thread in threads:
            thread.start()
        assert results.get(timeout=30) is RuntimeError
        gate.release.set()
        assert results.get(timeout=30) == [0]
        assert ends(threads)
        assert next(iterator) == [1]


def test_threads_may_take_turns():
    with DataLoader(range(20), num_workers=2) as loader:
        iterator, items = iter(loader), []
        for _ in range(4):
            thread = threading.Thread(target=lambda: items.extend(next(iterator)[0] for _ in range(5)))
            thread.start()
            thread.join(30)
    assert items == list(range(20))


def test_a_deep_recursion_in_a_worker():
    def depth(n):
        return 0 if n == 0 else 1 + depth(n - 1)

    old = sys.getrecursionlimit()
    sys.setrecursionlimit(6000)
    try:
        with DataLoader([0], num_workers=1, transform=lambda i, x: depth(5000)) as loader:
            assert list(loader) == [[5000]]
    finally:
        sys.setrecursionlimit(old)


@pytest.mark.parametrize("num_workers", WORKERS)
@pytest.mark.parametrize("ending", ["pass", "raise SystemExit(0)", "del iterator", "loader.close()"])
def test_the_interpreter_exits_though_a_worker_blocks_for_ever(num_workers, ending):
    out = run(f"""
        import threading
        from headrace import DataLoader
        entered = threading.Event()
        class Stuck:
            def __len__(self):
                return 100
            def __getitem__(self, index):
                if index:
                    entered.set()
                    threading.Event().wait()
                return index
        loader = DataLoader(Stuck(), num_workers={num_workers})
        iterator = iter(loader)
        print(next(iterator)[0])
        entered.wait()
        {ending}
    """)
    assert out == ["0"]


def test_the_interpreter_exits_in_the_middle_of_busy_workers():
    out = run("""
        from headrace import DataLoader
        iterator = iter(DataLoader(range(10**8), 8, shuffle=True, num_workers=8, prefetch_depth=50))
        for _ in range(50):
            next(iterator)
        print("left")
    """)
    assert out == ["left"]


def test_an_uncaught_error_of_a_worker_ends_the_program():
    script = """
        from headrace import DataLoader
        for batch in DataLoader([1, 0], num_workers=2, transform=lambda x: 1 // x):
            pass
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("ZeroDivisionError") == 1


INTERRUPTED = """
    import os, signal, threading
    from headrace import DataLoader
    entered, waiting, release = threading.Event(), threading.Event(), threading.Event()
    class Gate:
        def __len__(self):
            return 6
        def __getitem__(self, index):
            if index == 2:
                entered.set()
                release.wait()
            return index
    def interrupt():
        waiting.wait()
        entered.wait()
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    seen = []
    loader = DataLoader(Gate(), num_workers=%d)
    iterator = iter(loader)
    try:
        for batch in iterator:
            seen += batch
            if seen == [0, 1]:
                waiting.set()  # the interrupt comes here at the earliest
    except KeyboardInterrupt:
        print("interrupted")
    release.set()
    for batch in iterator:
        seen += batch
    print(*seen)
    print(sum(len(batch) for batch in loader))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("num_workers", WORKERS)
def test_a_loop_cancelled_by_ctrl_c_goes_on(num_workers):
    assert run(INTERRUPTED % num_workers) == ["interrupted", "0", "1", "2", "3", "4", "5", "6"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fork")
@pytest.mark.parametrize("moment", ["between epochs", "in an epoch"])
@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_forked_child_uses_the_loader_of_its_parent(moment, num_workers):
    out = run(f"""
        import os, signal, sys, warnings
        warnings.simplefilter("ignore")
        from headrace import DataLoader
        loader = DataLoader(range(40), 4, shuffle=True, seed=1, num_workers={num_workers})
        iterator = iter(loader)
        next(iterator)
        if {moment == "between epochs"}:
            list(iterator)
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            good = all(sorted(x for batch in loader for x in batch) == list(range(40)) for _ in range(2))
            os._exit(0 if good else 3)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status))
        print(len(list(loader)))
    """)
    assert out == ["0", "10"]


def test_many_loaders_at_once_on_many_threads():
    results, start = queue.Queue(), threading.Barrier(8)

    def work(seed):
        start.wait(30)
        with DataLoader(range(200), 7, shuffle=True, seed=seed, num_workers=2) as loader:
            results.put(sorted(x for batch in loader for x in batch) == list(range(200)))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    assert ends(threads)
    assert [results.get_nowait() for _ in threads] == [True] * 8
