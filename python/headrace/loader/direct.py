"""The shortest way from a number to its batch, for loaders without workers.

Of trivial items the loader itself is most of the cost, and there a Python frame costs as much as two items. So the
usual map-style batch (items one by one, errors raised) is claimed, made and counted in one frame.

What is raised, by an item or by a signal, fails the number, which counts as given. `for number in window` claims in
one step of the interpreter, so that a signal seldom finds a claimed number before the `try` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from headrace._native import Window
from headrace.draws import Draws, here
from headrace.loader.batching import Batcher, told

__all__ = ["direct"]


def direct(
    window: Window, batcher: Batcher, select: Callable[[int], Sequence[int]], draws: Draws, run: Callable[[int], Any]
) -> Callable[[float | None], Any]:
    """The function that makes the epoch's next batch on the calling thread; for a `batcher` that is `direct`.

    `run` makes the batches that are measured: of short ones, one in 64.
    """
    get, transform, finish = batcher.dataset.__getitem__, batcher.transform, batcher.finish
    stages, give, fail, take = batcher.stages, window.give, window.fail, window.take
    measured = 0  # the next number that is

    def next_batch(_: float | None) -> Any:
        nonlocal measured
        for number in window:
            try:
                if number >= measured:
                    batch = run(number)
                    measured = (number | stages.mask) + 1
                else:
                    indices = select(number)
                    cursor = iter(indices)
                    items = (draws, indices, cursor)
                    before, here.items = here.items, items
                    try:
                        if transform is None:
                            batch = [get(index) for index in cursor]
                        else:
                            batch = [transform(index, get(index)) for index in cursor]
                        if finish is not None:
                            batch = finish(indices, batch)
                    except BaseException as error:
                        if (other := told(error, items, number)) is not error:
                            raise other from error
                        raise
                    finally:
                        here.items = before
            except BaseException as error:
                fail(number, error)
                break
            else:
                give(number)
                return batch
        return take()

    return next_batch
