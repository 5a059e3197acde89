"""Which shards a pattern names: braces spelled out, globs looked up."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from itertools import islice, product

__all__ = ["MOST_SHARDS", "expand_braces", "has_glob", "match_files"]

MOST_SHARDS = 1_000_000
"""A pattern that names more shards is refused before any of them is listed."""

RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?")
GLOB = re.compile(r"[*?]|\[[^\]]+\]")


def expand_braces(pattern: str) -> list[str]:
    """Spells out the braces of a pattern, as a shell does.

    `{a,b}` names two, `{000..009}` ten with their zeros kept, `{0..8..2}` every second; groups nest. A group
    with neither a comma nor a range, and one that is not closed, stands for itself.

    Raises:
        ValueError: It names more than `MOST_SHARDS`.

    Example:
        >>> expand_braces("{train,test}-{08..10}.tar")[:3]
        ['train-08.tar', 'train-09.tar', 'train-10.tar']
    """
    found = list(islice(_alternatives(pattern), MOST_SHARDS + 1))
    if len(found) > MOST_SHARDS:
        raise ValueError(f"pattern {pattern!r} names more than {MOST_SHARDS:,} shards; give them in smaller sets")
    return found


def _alternatives(pattern: str) -> Iterator[str]:
    group = _first_group(pattern)
    if group is None:
        yield pattern
        return
    start, stop, choices = group
    tails = _alternatives(pattern[stop:])
    for middle, tail in _pairs(choices, tails):
        yield pattern[:start] + middle + tail


def _pairs(choices: Iterator[str], tails: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Every choice with every tail, neither of them listed when there is but one of the other."""
    return product(islice(choices, MOST_SHARDS + 1), islice(tails, MOST_SHARDS + 1))


def _first_group(pattern: str) -> tuple[int, int, Iterator[str]] | None:
    """Start, end and choices of the first group that expands."""
    at = pattern.find("{")
    while at >= 0:
        parts, end = _parts(pattern, at)
        if end < 0:
            return None
        inside = pattern[at + 1 : end - 1]
        if len(parts) > 1:
            return at, end, (spelled for part in parts for spelled in _alternatives(part))
        counted = RANGE.fullmatch(inside)
        if counted is not None:
            return at, end, _count(*counted.groups())
        inner = _first_group(inside)
        if inner is not None:
            start, stop, choices = inner
            return at + 1 + start, at + 1 + stop, choices
        at = pattern.find("{", end)
    return None


def _parts(pattern: str, start: int) -> tuple[list[str], int]:
    """What stands between the commas of the group that opens at `start`, and where it ends (-1: nowhere)."""
    depth, begin, parts = 0, start + 1, []
    for at in range(start, len(pattern)):
        letter = pattern[at]
        if letter == "{":
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                parts.append(pattern[begin:at])
                return parts, at + 1
        elif letter == "," and depth == 1:
            parts.append(pattern[begin:at])
            begin = at + 1
    return [], -1


def _count(first: str, last: str, step: str | None) -> Iterator[str]:
    start, stop = int(first), int(last)
    stride = abs(int(step)) if step is not None else 1
    if stride == 0:
        stride = 1
    padded = any(number.lstrip("-").startswith("0") and len(number.lstrip("-")) > 1 for number in (first, last))
    width = max(len(first), len(last)) if padded else 0
    numbers = range(start, stop + 1, stride) if start <= stop else range(start, stop - 1, -stride)
    return (f"{number:0{width}d}" for number in numbers)


def has_glob(pattern: str) -> bool:
    """Whether the pattern holds `*`, `?` or a class such as `[0-9]`."""
    return GLOB.search(pattern) is not None


def match_files(pattern: str) -> list[str]:
    """The local paths that a glob matches, sorted; `**` stands for any folders, hidden files are left out."""
    return sorted(glob.iglob(pattern, recursive=True))
