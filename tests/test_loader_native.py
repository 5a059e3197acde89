"""Native datasets in the loader: one call a batch, and everything else as for any dataset."""

import contextlib
import gc
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from headrace import DataLoader, FileDataset, HttpDataset, errors, sample_rng

WAYS = [(0, 1), (0, 5), (1, 1), (1, 8), (2, 3), (3, 16)]
COUNT = 60


class Tiles:
    """`/n` is `tile n`; `/missing` is not there. While `gate` is closed, numbers from `held_from` on wait for it."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.held_from = 10**9
        self.changed = threading.Condition()
        self.inside = self.most = self.connections = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                outer.count(connections=1)

            def finish(self) -> None:
                super().finish()
                outer.count(connections=-1)

            def do_GET(self) -> None:
                name = self.path[1:]
                outer.count(inside=1)
                if name.isdigit() and int(name) >= outer.held_from:
                    outer.gate.wait(60)
                outer.count(inside=-1)
                body = f"tile {name}".encode()
                with contextlib.suppress(OSError):
                    self.send_response(404 if name == "missing" else 200)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass  # a client that left

        self.http = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    def count(self, inside: int = 0, connections: int = 0) -> None:
        with self.changed:
            self.inside += inside
            self.connections += connections
            self.most = max(self.most, self.inside)
            self.changed.notify_all()

    def wait_for(self, what: str, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: getattr(self, what) == count, 30), (what, getattr(self, what), count)

    def hold(self, start: int = 0) -> None:
        self.gate.clear()
        self.held_from = start

    def dataset(self, count: int = COUNT, **options: object) -> HttpDataset:
        return HttpDataset.from_template(f"{self.url}/{{index}}", length=count, **options)

    def close(self) -> None:
        self.gate.set()
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def tiles() -> Iterator[Tiles]:
    made = Tiles()
    yield made
    made.close()


def expected(*indices: int) -> list[bytes]:
    return [f"tile {index}".encode() for index in indices]


OPTIONS = [
    {"batch_size": 7},
    {"batch_size": 7, "shuffle": True, "seed": 3},
    {"batch_size": None},
    {"batch_size": None, "transform": lambda index, sample: (index, sample)},
    {"batch_size": 8, "drop_last": True, "return_indices": True},
    {"batch_size": 9, "transform": lambda index, sample: (index, sample, int(sample_rng().integers(1 << 40)))},
    {"batch_size": 5, "collate_fn": b"".join, "shard": (1, 3)},
    {"batch_sampler": [[3, 1], [2], [49, 0, 5]]},
]


@pytest.mark.parametrize("kind", ["http", "files", "files with a timeout"])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options))
def test_the_batches_are_those_of_a_list_of_bytes(tiles, tmp_path, kind, options):
    dataset = tiles.dataset()
    if kind != "http":
        for index, data in enumerate(expected(*range(COUNT))):
            (tmp_path / str(index)).write_bytes(data)
        paths = [tmp_path / str(index) for index in range(COUNT)]
        dataset = FileDataset(paths, timeout=30) if "timeout" in kind else FileDataset(paths)
    options = {"rng_seed": 1, **options}
    with DataLoader(expected(*range(COUNT)), **options) as plain:
        wanted = [list(plain), list(plain)]
    for num_workers, item_concurrency in WAYS:
        with DataLoader(dataset, num_workers=num_workers, item_concurrency=item_concurrency, **options) as loader:
            assert [list(loader), list(loader)] == wanted


@pytest.mark.parametrize(("num_workers", "item_concurrency"), WAYS)
def test_as_many_are_in_flight_as_was_said_and_no_more(tiles, num_workers, item_concurrency):
    tiles.hold()
    bound = max(1, num_workers) * item_concurrency
    with DataLoader(tiles.dataset(200), 16, num_workers=num_workers, item_concurrency=item_concurrency) as loader:
        got = []
        consumer = threading.Thread(target=lambda: got.extend(loader))
        consumer.start()
        tiles.wait_for("inside", bound)
        tiles.gate.set()
        consumer.join(60)
    assert [item for batch in got for item in batch] == expected(*range(200))
    assert tiles.most == bound


def test_the_next_batch_begins_while_one_waits_for_its_last_item(tiles):
    tiles.hold(3)
    with DataLoader(tiles.dataset(), 4, num_workers=1, item_concurrency=4) as loader:
        iterator = iter(loader)
        tiles.wait_for("inside", 4)  # item 3, and the next batch's, in the places that 0, 1 and 2 left
        tiles.gate.set()
        assert next(iterator) == expected(0, 1, 2, 3)


@pytest.mark.parametrize("num_workers", [1, 3])
def test_the_oldest_batch_is_served_first(tiles, num_workers):
    tiles.hold(8)  # were a later batch given a place before the first has all it needs, the first would never come
    with DataLoader(tiles.dataset(), 8, num_workers=num_workers, item_concurrency=1) as loader:
        assert next(iter(loader)) == expected(*range(8))


def test_a_transform_runs_as_each_item_arrives(tiles):
    tiles.hold(3)
    seen, all_but_one = [], threading.Event()

    def transform(index, sample):
        seen.append(index)
        if len(seen) == 3:
            all_but_one.set()
        return sample

    with DataLoader(tiles.dataset(4), 4, num_workers=1, item_concurrency=4, transform=transform) as loader:
        iterator = iter(loader)
        assert all_but_one.wait(30)
        assert sorted(seen) == [0, 1, 2]
        tiles.gate.set()
        assert next(iterator) == expected(0, 1, 2, 3)


@pytest.mark.parametrize("transform", [None, lambda index, sample: sample])
@pytest.mark.parametrize("num_workers", [0, 2])
def test_the_error_policy(tiles, num_workers, transform):
    urls = [f"{tiles.url}/{'missing' if index in (1, 5) else index}" for index in range(8)]
    options = {"num_workers": num_workers, "item_concurrency": 3, "transform": transform}
    with DataLoader(HttpDataset(urls), 4, **options) as loader:
        for _ in range(2):
            iterator = iter(loader)
            for number, index in ((0, 1), (1, 5)):
                with pytest.raises(errors.NotFoundError) as caught:
                    next(iterator)
                assert caught.value.index == index
                assert caught.value.__notes__[0].startswith(f"headrace: dataset index {index}, batch {number}, ")
            assert list(iterator) == []
    with DataLoader(HttpDataset(urls), 4, on_error="skip", return_indices=True, **options) as loader:
        assert list(loader) == [(expected(0, 2, 3), [0, 2, 3]), (expected(4, 6, 7), [4, 6, 7])]
        assert sorted(failure.index for failure in loader.failures) == [1, 5]
        assert loader.stats().failures == 2
    with DataLoader(HttpDataset(urls), 2, on_error=lambda failure: failure.index, **options) as loader:
        assert next(iter(loader)) == [b"tile 0", 1]
    with DataLoader(HttpDataset(urls[1:2]), on_error="skip", **options) as loader:
        assert list(loader) == []
        assert loader.stats().left_out == 1


def test_an_index_outside_the_dataset(tiles):
    with DataLoader(tiles.dataset(4), sampler=[3, 4], num_workers=1) as loader:
        iterator = iter(loader)
        assert next(iterator) == expected(3)
        with pytest.raises(IndexError):
            next(iterator)


def test_the_bytes_are_counted(tiles):
    for transform in (None, lambda index, sample: sample):
        with DataLoader(tiles.dataset(10), 4, num_workers=1, item_concurrency=2, transform=transform) as loader:
            assert loader.stats().bytes is None
            list(loader)
            assert loader.stats().bytes == sum(map(len, expected(*range(10))))
            assert loader.stats().seconds["fetch"] > 0


@pytest.mark.parametrize("transform", [None, lambda index, sample: sample])
def test_leaving_an_epoch_cancels_its_requests(tiles, transform):
    tiles.hold(4)
    loader = DataLoader(tiles.dataset(), 4, num_workers=2, item_concurrency=4, transform=transform)
    for batch in loader:
        assert batch == expected(0, 1, 2, 3)
        tiles.wait_for("inside", 8)
        break
    tiles.held_from = 10**9  # those that wait still do: only cancelling gives their permits back
    assert [item for batch in loader for item in batch] == expected(*range(COUNT))
    loader.close()


def test_closing_ends_a_wait_for_a_server_that_hangs(tiles):
    tiles.hold()
    loader = DataLoader(tiles.dataset(timeout=None), num_workers=1, item_concurrency=1)
    iterator = iter(loader)
    caught = []

    def consume():
        try:
            next(iterator)
        except RuntimeError as error:
            caught.append(error)

    consumer = threading.Thread(target=consume)
    consumer.start()
    tiles.wait_for("inside", 1)
    loader.close()
    consumer.join(30)
    assert not consumer.is_alive()
    assert len(caught) == 1


def test_a_timeout_leaves_the_iterator_usable(tiles):
    tiles.hold()
    with DataLoader(tiles.dataset(2), 2, num_workers=1, item_concurrency=2, timeout=0.02) as loader:
        iterator = iter(loader)
        with pytest.raises(TimeoutError):
            next(iterator)
        tiles.gate.set()
        while True:
            with contextlib.suppress(TimeoutError):
                assert next(iterator) == expected(0, 1)
                break


@pytest.mark.parametrize("num_workers", [0, 2])
def test_resuming_at_every_step(tiles, num_workers):
    options = {"batch_size": 8, "shuffle": True, "seed": 5, "num_workers": num_workers, "item_concurrency": 3}
    with DataLoader(tiles.dataset(), **options) as loader:
        wanted = list(loader)
    for given in range(len(wanted)):
        with DataLoader(tiles.dataset(), **options) as first, DataLoader(tiles.dataset(), **options) as second:
            iterator = iter(first)
            for _ in range(given):
                next(iterator)
            second.load_state_dict(first.state_dict())
            assert list(second) == wanted[given:]


def test_runtime_threads():
    with pytest.raises(ValueError, match="runtime_threads is for async and native datasets; list"):
        DataLoader([1], runtime_threads=1)
    for value, kind in [(0, ValueError), (1025, ValueError), (1.5, TypeError)]:
        with pytest.raises(kind, match="runtime_threads"):
            DataLoader(FileDataset([]), runtime_threads=value)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads in /proc")
def test_runtime_threads_is_how_many_carry_the_network(tiles):
    def carriers():
        names = []
        for task in os.listdir("/proc/self/task"):
            with contextlib.suppress(OSError), open(f"/proc/self/task/{task}/comm") as comm:
                names.append(comm.read().strip())
        return sum(name == "headrace-fetch" for name in names)

    with DataLoader(tiles.dataset(8), 4, num_workers=1, item_concurrency=4, runtime_threads=3) as loader:
        before = carriers()
        list(loader)
        assert carriers() - before == 3


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts files in /proc")
def test_a_hundred_loaders_leave_no_thread_no_socket_and_no_file(tiles):
    dataset = tiles.dataset(12)

    def counts():
        return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))

    def settled(most):
        for _ in range(3000):
            if all(now <= then for now, then in zip(counts(), most, strict=True)):
                return True
            threading.Event().wait(0.01)
        return False

    tiles.wait_for("connections", 0)
    before = counts()
    for number in range(100):
        loader = DataLoader(dataset, 4, num_workers=2, item_concurrency=2)
        iterator = iter(loader)
        next(iterator)
        if number % 2:
            list(iterator)
        del loader, iterator
    gc.collect()
    tiles.wait_for("connections", 0)
    assert settled(before), (before, counts())


def run(script, *arguments):
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from headrace import *\nimport os, signal, sys\n" + textwrap.dedent(script),
            *arguments,
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
@pytest.mark.parametrize("num_workers", [0, 4])
def test_fork_in_the_middle_of_an_epoch_with_64_in_flight(tiles, num_workers):
    out = run(
        f"""
        dataset = HttpDataset.from_template(sys.argv[1] + "/{{index}}", length=600)
        loader = DataLoader(dataset, 16, num_workers={num_workers}, item_concurrency={16 if num_workers else 64})
        wanted = [b"tile %d" % index for index in range(600)]
        iterator = iter(loader)
        seen = next(iterator) + next(iterator)
        child = os.fork()
        if child == 0:
            signal.alarm(50)
            good = seen + sum(iterator, []) == wanted and sum(loader, []) == wanted
            os._exit(0 if good else 3)
        print(seen + sum(iterator, []) == wanted)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(sum(loader, []) == wanted)
        """,
        tiles.url,
    )
    assert out == ["True", "0", "True"]


def first_batch(dataset: HttpDataset) -> list[bytes]:
    with DataLoader(dataset, 4, num_workers=1, item_concurrency=4) as loader:
        return next(iter(loader))


def test_a_spawned_process_gets_the_dataset(tiles):
    dataset = tiles.dataset()
    assert first_batch(dataset) == expected(0, 1, 2, 3)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(first_batch, (dataset,)) == expected(0, 1, 2, 3)
        pool.close()
        pool.join()


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("ending", ["pass", "del iterator", "loader.close()", "raise SystemExit(0)"])
def test_the_interpreter_exits_though_the_server_hangs(tiles, num_workers, ending):
    tiles.hold(1)
    out = run(
        f"""
        dataset = HttpDataset.from_template(sys.argv[1] + "/{{index}}", length=64, timeout=None)
        loader = DataLoader(dataset, num_workers={num_workers}, item_concurrency=4)
        iterator = iter(loader)
        print(next(iterator)[0].decode())
        {ending}
        """,
        tiles.url,
    )
    assert out == ["tile", "0"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_the_interpreter_exits_though_a_file_hangs(tmp_path):
    (tmp_path / "0").write_bytes(b"whole")
    os.mkfifo(tmp_path / "1")
    out = run(
        """
        loader = DataLoader(FileDataset([sys.argv[1] + "/0", sys.argv[1] + "/1"]), num_workers=1)
        print(next(iter(loader)))
        """,
        str(tmp_path),
    )
    assert out == ["[b'whole']"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("num_workers", [0, 1])
def test_ctrl_c_while_the_server_hangs(tiles, num_workers):
    tiles.hold(1)
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
            import sys
            from headrace import DataLoader, HttpDataset
            dataset = HttpDataset.from_template(sys.argv[1] + "/{{index}}", length=8, timeout=None)
            iterator = iter(DataLoader(dataset, num_workers={num_workers}, item_concurrency=1))
            next(iterator)
            try:
                print("waiting", flush=True)
                next(iterator)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            """),
            tiles.url,
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "waiting\n"
    tiles.wait_for("inside", 1)
    child.send_signal(2)
    assert child.stdout.readline() == "interrupted\n"
    tiles.gate.set()
    assert child.wait(30) == 0
    child.stdout.close()


def test_two_loaders_run_over_one_dataset_at_once(tiles):
    dataset = tiles.dataset(20)
    with DataLoader(dataset, 4, num_workers=1, item_concurrency=2) as a, DataLoader(dataset, 4) as b:
        for left, right in zip(a, b, strict=True):
            assert left == right
