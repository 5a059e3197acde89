"""Which split a shard belongs to, told from its name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

__all__ = ["SPLIT_NAMES", "group_by_split", "split_of"]

SPLIT_NAMES = {
    "train": "train",
    "training": "train",
    "test": "test",
    "testing": "test",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
}
WORD = re.compile(r"[^\W\d_]+")


def split_of(name: str, root: str = "") -> str | None:
    """The split that a shard's name tells: a word of the file's own name, or a folder below `root`.

    Args:
        name: Path or URL of the shard.
        root: What `name` begins with; folders in it tell nothing.

    Returns:
        `"train"`, `"test"`, `"validation"`, or None where the name tells none.

    Raises:
        ValueError: The name tells two different splits.

    Example:
        >>> split_of("photos/dev/000.tar", root="photos"), split_of("x_test-000.tar"), split_of("latest.tar")
        ('validation', 'test', None)
    """
    below = name[len(root) :] if root and name.startswith(root) else name
    path = PurePosixPath(below.replace("\\", "/").split("?", 1)[0])
    stem = path.name.split(".", 1)[0]
    told = {SPLIT_NAMES[word.lower()] for word in WORD.findall(stem) if word.lower() in SPLIT_NAMES}
    if root:
        told |= {SPLIT_NAMES[part.lower()] for part in path.parts[:-1] if part.lower() in SPLIT_NAMES}
    if len(told) > 1:
        raise ValueError(
            f"{name!r} reads as {' and as '.join(sorted(told))}; say with data_files={{split: pattern}} which it is"
        )
    return told.pop() if told else None


def group_by_split(names: Iterable[str], root: str = "") -> dict[str, list[str]]:
    """Shards by split, in the order they came; all are `"train"` where no name tells a split.

    Raises:
        ValueError: A name tells two splits, or some names tell one and others none.
    """
    groups: dict[str | None, list[str]] = {}
    for name in names:
        groups.setdefault(split_of(name, root), []).append(name)
    rest = groups.pop(None, [])
    told: dict[str, list[str]] = {split: groups[split] for split in groups if split is not None}
    if not rest:
        return told
    if not told:
        return {"train": rest}
    raise ValueError(
        f"{rest[0]!r} tells no split, though others here do ({', '.join(sorted(told))}); "
        "say with data_files={split: pattern} which files are which"
    )


def the_split(groups: Mapping[str, list[str]], split: str) -> list[str]:
    """The shards of one split; ValueError, listing what is there, when it is not."""
    name = SPLIT_NAMES.get(split, split)
    if name not in groups:
        raise ValueError(f"there is no split {split!r} here; there is {', '.join(sorted(groups))}")
    return groups[name]
