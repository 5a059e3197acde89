"""The loader's event loop: cancelling, closing, forking, leaving the interpreter."""

import asyncio
import contextlib
import gc
import logging
import os
import subprocess
import sys
import textwrap
import threading

import pytest
from async_datasets import Gate, Items, ended, flat, loader_threads

from headrace import DataLoader, errors


@pytest.mark.parametrize("num_workers", [0, 2])
def test_leaving_an_epoch_cancels_what_is_in_flight(num_workers):
    gate = Gate(64, closed_at=4)
    loader = DataLoader(gate, 4, num_workers=num_workers, item_concurrency=4)
    iterator = iter(loader)
    assert next(iterator) == [0, 10, 20, 30]
    if num_workers:
        held = {gate.held.get(timeout=30) for _ in range(8)}
    del iterator
    gate.opened.set()
    gate.closed_at = 64
    assert flat(loader) == [10 * index for index in range(64)]
    if num_workers:
        assert set(gate.cancelled) == held
    loader.close()


def test_leaving_returns_though_a_coroutine_refuses_to_be_cancelled():
    release = threading.Event()

    class Stubborn(Items):
        async def item(self, index):
            while index and not release.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.001)
            return index

    loader = DataLoader(Stubborn(8), num_workers=1, item_concurrency=8)
    iterator = iter(loader)
    assert next(iterator) == [0]
    del iterator
    release.set()
    assert [batch[0] for batch in loader] == list(range(8))
    loader.close()


@pytest.mark.parametrize("how", ["closed", "collected", "closed twice", "two epochs"])
def test_aclose_is_awaited_once_on_the_loop_that_ran_the_items(how):
    class Closes(Items):
        async def aclose(self):
            self.loops.add(asyncio.get_running_loop())
            await super().aclose()

    dataset, before = Closes(8), loader_threads()
    loader = DataLoader(dataset, 4, num_workers=2, item_concurrency=2)
    list(loader)
    if how == "two epochs":
        list(loader)
    started = loader_threads() - before
    if how != "collected":
        loader.close()
    if how == "closed twice":
        loader.close()
    del loader
    gc.collect()
    assert dataset.closed == 1
    assert len(dataset.loops) == 1
    assert ended(started)


def test_a_loader_that_never_ran_has_nothing_to_release():
    dataset, before = Items(), loader_threads()
    DataLoader(dataset, 4, num_workers=2).close()
    assert dataset.closed == 0
    assert loader_threads() == before


@pytest.mark.parametrize("outcome", ["raises", "hangs"])
def test_what_is_wrong_with_aclose_is_logged(outcome, caplog, monkeypatch):
    from headrace.loader import coroutines

    monkeypatch.setattr(coroutines, "ACLOSE_S", 0.05)

    class Bad(Items):
        async def aclose(self):
            self.closed += 1
            if outcome == "raises":
                raise KeyError("secret place")
            await asyncio.Event().wait()

    before = loader_threads()
    dataset = Bad(4)
    with caplog.at_level(logging.ERROR, "headrace"), DataLoader(dataset, num_workers=1) as loader:
        list(loader)
        started = loader_threads() - before
    assert dataset.closed == 1
    assert [record.name for record in caplog.records] == ["headrace"]
    assert "Bad.aclose()" in caplog.text
    assert ("KeyError" in caplog.text) == (outcome == "raises")
    assert ended(started)


def test_what_is_in_flight_unwinds_before_aclose():
    events = []

    class Ordered(Gate):
        async def item(self, index):
            try:
                return await super().item(index)
            finally:
                events.append("item")

        async def aclose(self):
            events.append("aclose")

    gate = Ordered(4)
    loader = DataLoader(gate, 4, num_workers=1, item_concurrency=4)
    iterator = iter(loader)
    for _ in range(4):
        gate.held.get(timeout=30)
    loader.close()
    assert events == ["item"] * 4 + ["aclose"]
    with pytest.raises(errors.ClosedError):
        iter(loader)
    with pytest.raises(RuntimeError):
        next(iterator)


def test_a_timeout_leaves_the_iterator_usable():
    gate = Gate(4)
    with DataLoader(gate, 2, num_workers=1, item_concurrency=2, timeout=0.02) as loader:
        iterator = iter(loader)
        with pytest.raises(TimeoutError):
            next(iterator)
        gate.opened.set()
        items = []
        while len(items) < 4:
            with contextlib.suppress(TimeoutError):
                items += next(iterator)
        assert items == [0, 10, 20, 30]


def test_a_hundred_loaders_leave_no_thread_and_no_file():
    before = loader_threads()

    def files():
        return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0

    counts = []
    for number in range(100):
        loader = DataLoader(Items(12), 4, num_workers=2, item_concurrency=2)
        iterator = iter(loader)
        next(iterator)
        if number % 2:
            list(iterator)
        started = loader_threads() - before
        del loader, iterator
        gc.collect()
        assert ended(started)
        counts.append(files())
    assert counts[-1] <= counts[4]


def test_many_iterations_on_one_loader_reuse_one_loop():
    dataset = Items(8)
    with DataLoader(dataset, 4, num_workers=1, item_concurrency=4) as loader:
        for _ in range(50):
            for _ in loader:
                break
    assert len(dataset.loops) == 1
    assert dataset.running == 0


def run(script, *, timeout=60):
    source = "import asyncio, os, signal, sys, threading\nfrom headrace import *\n" + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source], capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout.split()


HUNG = """
class Hung(AsyncDataset):
    def __len__(self):
        return 100
    async def __getitem__(self, index):
        if index:
            await {}
        return index
    async def aclose(self):
        print("closed", flush=True)
loader = DataLoader(Hung(), num_workers={}, item_concurrency=4)
iterator = iter(loader)
print(next(iterator)[0], flush=True)
"""


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("wait", ["asyncio.Event().wait()", "asyncio.to_thread(threading.Event().wait)"])
def test_the_interpreter_exits_with_coroutines_in_flight(num_workers, wait):
    assert run(HUNG.format(wait, num_workers)) == ["0", "closed"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
@pytest.mark.parametrize("num_workers", [0, 4])
def test_fork_in_the_middle_of_an_epoch_with_64_in_flight(num_workers):
    out = run(f"""
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        class Slow(AsyncDataset):
            running = most = 0
            def __len__(self):
                return 400
            async def __getitem__(self, index):
                self.running += 1
                self.most = max(self.most, self.running)
                await asyncio.sleep(0.002)
                self.running -= 1
                return index
        loader = DataLoader(Slow(), 8, num_workers={num_workers}, item_concurrency=16)
        iterator = iter(loader)
        seen = [next(iterator) for _ in range(10)]
        child = os.fork()
        if child == 0:
            signal.alarm(50)
            seen += list(iterator)
            good = sum(seen, []) == list(range(400)) and sum(loader, []) == list(range(400))
            os._exit(0 if good else 3)
        seen += list(iterator)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(sum(seen, []) == list(range(400)))
        print(sum(loader, []) == list(range(400)))
    """)
    assert out == ["0", "True", "True"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("num_workers", [0, 1])
def test_ctrl_c_while_waiting(num_workers):
    out = run(f"""
        entered, waiting, go = (threading.Event() for _ in range(3))
        class Gate(AsyncDataset):
            def __len__(self):
                return 3
            async def __getitem__(self, index):
                if index == 1:
                    entered.set()
                    while not go.is_set():
                        await asyncio.sleep(0.001)
                return index
        def interrupt():
            waiting.wait()
            entered.wait()
            os.kill(os.getpid(), signal.SIGINT)
        iterator = iter(DataLoader(Gate(), num_workers={num_workers}))
        print(next(iterator)[0])
        threading.Thread(target=interrupt).start()
        try:
            waiting.set()  # the interrupt comes here at the earliest
            next(iterator)
        except KeyboardInterrupt:
            print("interrupted")
        go.set()
        print(*(batch[0] for batch in iterator))
    """)
    # Without workers the interrupted batch was on this thread, and is over; with them it is still to come.
    assert out == (["0", "interrupted", "1", "2"] if num_workers else ["0", "interrupted", "2"])


def test_importing_headrace_does_not_import_asyncio():
    code = (
        "import sys, numpy, numpy.random; before = set(sys.modules); import headrace;"
        "print('asyncio' in set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("installed", [True, False])
def test_uvloop_is_used_where_it_is_installed(installed, monkeypatch):
    if installed:
        module = pytest.importorskip("uvloop").__name__
    else:
        monkeypatch.setitem(sys.modules, "uvloop", None)
        module = "asyncio"
    dataset = Items(4)
    with DataLoader(dataset, 2, num_workers=1) as loader:
        assert flat(loader) == [0, 10, 20, 30]
    (loop,) = dataset.loops
    assert type(loop).__module__.split(".")[0] == module


def test_coroutines_that_block_the_loop_do_not_keep_close_for_ever(monkeypatch, caplog):
    from headrace.loader import coroutines

    monkeypatch.setattr(coroutines, "ACLOSE_S", 0.02)
    monkeypatch.setattr(coroutines, "UNWIND_S", 0.01)
    entered, release = threading.Event(), threading.Event()

    class Blocks(Items):
        async def item(self, index):
            entered.set()
            release.wait(60)

    before = loader_threads()
    loader = DataLoader(Blocks(2), num_workers=1)
    iterator = iter(loader)
    assert entered.wait(30)
    with caplog.at_level(logging.ERROR, "headrace"):
        loader.close()
    assert "blocked by one of its coroutines" in caplog.text
    release.set()
    del iterator
    assert ended(loader_threads() - before)
