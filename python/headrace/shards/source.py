"""Where shards come from: paths and URLs, a bucket, or anything that lists and opens them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable
from urllib.parse import unquote, urlsplit

from headrace.errors import MissingShardError
from headrace.shards.pattern import expand_braces, has_glob, match_files

__all__ = ["DataSource", "URLSource", "is_local", "local_path"]

SCHEMES = ("http", "https", "s3", "gs", "az", "hf")
TARS = (".tar", ".tar.gz", ".tgz", ".tar.zst")


@runtime_checkable
class DataSource(Protocol):
    """Anything that lists shards by name and opens one of them.

    A source that also has `local_path(shard) -> str | None` has its shards read in place.
    """

    def list_shards(self) -> list[str]:
        """Names of the shards, in order; the same each time."""

    def open_shard(self, shard: str) -> BinaryIO:
        """The bytes of a shard from its beginning. FileNotFoundError when there is none of this name."""


class URLSource:
    """Shards by path or URL.

    Args:
        url: A path or URL, or a list of them. A string may hold braces (`data-{000..009}.tar`), which are
            spelled out, and, when it is a local path, globs (`**`, `*`, `?`, `[0-9]`). A `Path`, and a string
            that names an existing file, stand for themselves. A folder stands for the tars in it.

    Raises:
        ValueError: The URL's scheme is none of `file`, `http`, `https`, `s3`, `gs`, `az`, `hf`; nothing is ever
            run as a command.
        TypeError: Something that is neither a string nor a path.

    Example:
        >>> URLSource("https://data.example/{train,test}-{0..1}.tar").list_shards()[-1]
        'https://data.example/test-1.tar'
    """

    def __init__(self, url: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> None:
        given = [url] if isinstance(url, (str, os.PathLike)) else list(url)
        for one in given:
            if not isinstance(one, (str, os.PathLike)):
                raise TypeError(f"a shard is named by a string or a path; got {type(one).__name__}")
            if isinstance(one, str):
                _check_scheme(one)
        self.given = given
        self._listed: list[str] | None = None

    def list_shards(self) -> list[str]:
        """Every shard, in the order given; those of one glob or folder sorted.

        Raises:
            FileNotFoundError: A glob or a folder holds no shard, or a path does not exist.
        """
        if self._listed is None:
            self._listed = [shard for one in self.given for shard in _list(one)]
        return list(self._listed)

    def open_shard(self, shard: str) -> BinaryIO:
        path = local_path(shard)
        if path is None:
            raise MissingShardError(f"{shard!r} is remote: it is read through its fetcher", shard=shard)
        try:
            return Path(path).open("rb")
        except FileNotFoundError as error:
            raise MissingShardError(f"there is no shard {shard!r}", shard=shard) from error

    @property
    def shards(self) -> Iterator[tuple[str, BinaryIO]]:
        """Each shard's name and its opened bytes."""
        for shard in self.list_shards():
            yield shard, self.open_shard(shard)

    def __repr__(self) -> str:
        shown: Sequence[str] = [_shown(one) for one in self.given[:3]]
        more = f", ... {len(self.given) - 3} more" if len(self.given) > 3 else ""
        return f"URLSource({', '.join(map(repr, shown))}{more})"


def is_local(shard: str) -> bool:
    """Whether a shard's name is a path of this machine."""
    return local_path(shard) is not None


def local_path(shard: str) -> str | None:
    """The path that a shard's name stands for, None for a remote one."""
    if shard.startswith("file:"):
        parts = urlsplit(shard)
        if parts.netloc not in ("", "localhost"):
            raise ValueError(f"{shard!r} names another host; file: URLs are of this machine")
        return unquote(parts.path)
    return None if _scheme(shard) in SCHEMES else shard


def _scheme(url: str) -> str:
    head, found, _ = url.partition("://")
    return head.lower() if found and head.isalnum() else ""


def _check_scheme(url: str) -> None:
    if url.startswith("pipe:"):
        raise ValueError(f"{url!r}: a command is never run to read data; give the path or URL that it would read")
    scheme = _scheme(url)
    if scheme and scheme != "file" and scheme not in SCHEMES and "{" not in scheme:
        raise ValueError(f"{_shown(url)!r}: no scheme {scheme!r}; there are file, {', '.join(SCHEMES)}")


def _list(one: str | os.PathLike[str]) -> list[str]:
    if isinstance(one, str) and (_scheme(one) in SCHEMES):
        return expand_braces(one)
    path = local_path(one) if isinstance(one, str) else os.fspath(one)
    assert path is not None
    if Path(path).is_dir():
        return _in_folder(path)
    if Path(path).exists() or not isinstance(one, str):
        return [_existing(path)]
    found = []
    for name in expand_braces(path):
        if Path(name).exists() or not has_glob(name):
            found.append(_existing(name))
        else:
            matched = match_files(name)
            if not matched:
                raise MissingShardError(f"no file matches {name!r}", shard=name)
            found += matched
    return found


def _existing(path: str) -> str:
    if not Path(path).exists():
        raise MissingShardError(f"there is no shard {path!r}", shard=path)
    return path


def _in_folder(folder: str) -> list[str]:
    found = sorted(str(path) for path in Path(folder).rglob("*") if path.name.endswith(TARS) and path.is_file())
    if not found:
        raise MissingShardError(f"folder {folder!r} holds no shard (*.tar, *.tar.gz, *.tar.zst)", shard=folder)
    return found


def _shown(one: str | os.PathLike[str]) -> str:
    """A name without what may be secret in a URL: user, password and query."""
    name = os.fspath(one)
    if not _scheme(name):
        return name
    parts = urlsplit(name)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
