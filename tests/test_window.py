"""The ordered bounded window between workers and one consumer."""

import gc
import random
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headrace._native import Window


def start(count: int, work: Callable[[], None]) -> list[threading.Thread]:
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


def squares(window: Window) -> Callable[[], None]:
    def work() -> None:
        while (number := window.claim()) is not None:
            if number % 50 == 0:
                time.sleep(random.random() / 500)
            window.put(number, number**2)

    return work


def drain(window: Window) -> Iterator[Any]:
    while True:
        try:
            yield window.take()
        except StopIteration:
            return


@pytest.mark.parametrize(
    ("capacity", "workers", "tuning"), [(1, 4, None), (7, 3, (2, 3, 0)), (64, 32, None), (8, 4, (4, 4, 50))]
)
def test_order_and_bound(capacity: int, workers: int, tuning: tuple[int, int, int] | None) -> None:
    window = Window(capacity, 3_000)
    if tuning:
        window.tune(*tuning)
    threads = start(workers, squares(window))
    assert list(drain(window)) == [number**2 for number in range(3_000)]
    join(threads)
    counts = window.statistics()
    assert counts["largest"] <= capacity
    assert counts["claimed"] == counts["put"] == counts["taken"] == window.given == 3_000
    assert window.outstanding == 0


def test_a_slow_first_number_holds_the_others_back() -> None:
    window = Window(5)
    first = window.claim()
    threads = start(16, squares(window))
    time.sleep(0.1)
    assert (first, window.outstanding) == (0, 5)
    window.put(0, "first")
    assert [window.take() for _ in range(3)] == ["first", 1, 4]
    window.close()
    join(threads)


def test_unordered() -> None:
    window = Window(3, 3, ordered=False)
    for _ in range(3):
        window.claim()
    window.put(2, "c")
    assert (window.take(), window.given, window.ahead) == ("c", 0, [2])
    window.put(0, "a")
    window.skip(1)
    assert (window.take(), window.given, window.ahead) == ("a", 3, [])
    with pytest.raises(StopIteration):
        window.take()


def test_unordered_with_threads() -> None:
    window = Window(6, 2_000, ordered=False)
    threads = start(4, squares(window))
    assert sorted(drain(window)) == [number**2 for number in range(2_000)]
    join(threads)
    assert window.given == 2_000
    assert window.statistics()["largest"] <= 6


def test_timeout_leaves_the_window_usable() -> None:
    window = Window(1, 1)
    number = window.claim()
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        window.take(0.12)
    assert 0.1 < time.monotonic() - began < 5
    with pytest.raises(TimeoutError):
        window.take(0)
    with pytest.raises(ValueError, match="timeout"):
        window.take(-1)
    window.put(number, "late")  # type: ignore[arg-type]
    assert window.take(float("inf")) == "late"
    assert window.statistics()["wait_s"] > 0.1


def test_iterating_claims_without_waiting() -> None:
    window = Window(1, 2)
    assert next(window) == 0
    with pytest.raises(RuntimeError, match="another thread"):
        next(window)
    window.give(0)
    assert list(window) == [1]
    assert window.given == 1
    window.close()
    with pytest.raises(RuntimeError, match="closed"):
        next(window)


def test_close_wakes_everybody() -> None:
    window = Window(1)
    assert window.claim() == 0
    ends: list[object] = []

    def take() -> None:
        try:
            window.take()
        except RuntimeError as error:
            ends.append(str(error))

    threads = start(3, lambda: ends.append(window.claim())) + start(1, take)
    time.sleep(0.1)
    window.close()
    window.close()
    join(threads)
    assert window.closed
    assert sorted(map(str, ends)) == ["None", "None", "None", "the iterator is closed"]
    window.put(0, "dropped")
    with pytest.raises(RuntimeError, match="the iterator is closed"):
        window.take()


def test_fail_raises_that_object_in_its_turn() -> None:
    window = Window(3, 3)
    error = KeyError("two\nlines")
    for _ in range(3):
        window.claim()
    window.fail(1, error)
    window.put(2, "c")
    window.put(0, "a")
    assert window.take() == "a"
    with pytest.raises(KeyError) as caught:
        window.take()
    assert caught.value is error
    assert window.take() == "c"
    with pytest.raises(TypeError):
        window.fail(2, "text")  # type: ignore[arg-type]


def test_skip_and_finish() -> None:
    window = Window(4)
    for _ in range(4):
        window.claim()
    window.skip(0)
    window.put(1, "b")
    window.put(3, "beyond")
    window.finish(3)
    assert window.claim() is None
    assert window.take() == "b"
    window.skip(2)
    with pytest.raises(StopIteration):
        window.take()
    assert (window.given, window.outstanding) == (3, 0)


def test_finish_ends_waits() -> None:
    window = Window(1)
    number = window.claim()
    ends: list[object] = []
    threads = start(2, lambda: ends.append(window.claim()))
    time.sleep(0.05)
    threading.Timer(0.05, window.finish, [0]).start()
    assert list(drain(window)) == []
    join(threads)
    assert ends == [None, None]
    window.put(number, "beyond")  # type: ignore[arg-type]
    assert window.outstanding == 0


def test_an_empty_window_ends_at_once() -> None:
    window = Window(2, 0)
    assert window.claim() is None
    with pytest.raises(StopIteration):
        window.take()


def test_one_take_at_a_time() -> None:
    window = Window(1)
    number = window.claim()
    got: list[object] = []
    threads = start(1, lambda: got.append(window.take()))
    time.sleep(0.1)
    with pytest.raises(RuntimeError, match="another thread is advancing this iterator"):
        window.take()
    window.put(number, "mine")  # type: ignore[arg-type]
    join(threads)
    assert got == ["mine"]


@pytest.mark.parametrize("number", [0, 1, 2**63])
def test_numbers_that_were_not_claimed_are_refused(number: int) -> None:
    window = Window(2)
    with pytest.raises(ValueError, match=f"number {number} is not claimed"):
        window.put(number, None)


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="capacity"):
        Window(0)
    with pytest.raises(ValueError, match="limit"):
        Window(1).tune(0, 1, 0)


def test_the_limit_holds_and_can_be_raised() -> None:
    window = Window(16, 60)
    window.tune(2, 1, 0)
    lock = threading.Lock()
    running = most = 0

    def work() -> None:
        nonlocal running, most
        while (number := window.claim()) is not None:
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.002)
            with lock:
                running -= 1
            window.put(number, number)

    threads = start(6, work)
    got = [window.take() for _ in range(30)]
    assert most <= 2
    window.tune(6, 1, 0)
    got += drain(window)
    join(threads)
    assert got == list(range(60))
    assert most > 2


class Token:
    pass


def test_no_result_is_kept() -> None:
    window = Window(4, 4)
    tokens = [Token() for _ in range(4)]
    alive = [weakref.ref(token) for token in tokens]
    for token in tokens:
        window.put(window.claim(), token)  # type: ignore[arg-type]
    del token, tokens
    window.take()
    gc.collect()
    assert [ref() is not None for ref in alive] == [False, True, True, True]
    window.close()
    gc.collect()
    assert not any(ref() for ref in alive)


def test_a_window_left_alone_frees_its_results() -> None:
    window = Window(1)
    token = Token()
    alive = weakref.ref(token)
    window.put(window.claim(), token)  # type: ignore[arg-type]
    del token, window
    gc.collect()
    assert alive() is None


def test_a_destructor_may_use_the_window() -> None:
    window = Window(2)
    seen: list[bool] = []

    class Nosy:
        def __del__(self) -> None:
            seen.append(window.closed)

    window.put(window.claim(), Nosy())  # type: ignore[arg-type]
    window.close()
    gc.collect()
    assert seen == [True]


def test_signals_are_handled_while_waiting() -> None:
    class Alarm(Exception):
        pass

    def ring(*_: object) -> None:
        raise Alarm

    window = Window(1, 1)
    number = window.claim()
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Alarm):
            window.take(10)
    finally:
        signal.signal(signal.SIGALRM, before)
    window.put(number, "after")  # type: ignore[arg-type]
    assert window.take() == "after"


LEAVE = """
import sys, threading, time
from headrace._native import Window

window = Window(1)
window.claim()
for wait in (window.claim, window.claim, window.take):
    threading.Thread(target=wait, daemon=True).start()
time.sleep(0.1)

class Late:
    def __del__(self, window=window, sleep=time.sleep):
        sleep(0.2)  # lets the take wake while the interpreter goes down
        window.close()
        sleep(0.1)

sys.late = Late()
"""


def test_the_interpreter_exits_under_waiting_threads() -> None:
    done = subprocess.run([sys.executable, "-c", LEAVE], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
