"""What a name stands for: one shard, a pattern, a folder, or nothing that headrace would open."""

from pathlib import Path

import pytest

from headrace.shards.source import DataSource, URLSource, local_path


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def listed(folder: Path, *urls: str) -> list[str]:
    shards = URLSource([str(folder / url) for url in urls]).list_shards()
    return [str(Path(shard).relative_to(folder)) for shard in shards]


def test_braces_globs_and_lists_keep_their_order(tmp_path: Path) -> None:
    touch(tmp_path, "b-0.tar", "b-1.tar", "a-0.tar", "deep/c.tar")
    assert listed(tmp_path, "b-{0..1}.tar", "a-?.tar") == ["b-0.tar", "b-1.tar", "a-0.tar"]
    assert listed(tmp_path, "**/*.tar") == ["a-0.tar", "b-0.tar", "b-1.tar", "deep/c.tar"]
    assert listed(tmp_path, "b-[01].tar") == ["b-0.tar", "b-1.tar"]


def test_a_path_and_an_existing_file_are_never_patterns(tmp_path: Path) -> None:
    odd = ["a{0..1}.tar", "b[0].tar", "c*.tar", "d, e.tar"]
    touch(tmp_path, *odd, "b0.tar", "cx.tar")
    assert listed(tmp_path, *odd) == odd
    assert URLSource([tmp_path / name for name in odd]).list_shards() == [str(tmp_path / name) for name in odd]
    with pytest.raises(FileNotFoundError, match="there is no shard"):
        URLSource(tmp_path / "x{0..1}.tar").list_shards()


def test_a_folder_stands_for_the_tars_in_it(tmp_path: Path) -> None:
    touch(tmp_path, "train/1.tar", "train/0.tar.gz", "notes.txt", "z.tar.zst")
    assert listed(tmp_path, ".") == ["train/0.tar.gz", "train/1.tar", "z.tar.zst"]
    with pytest.raises(FileNotFoundError, match="holds no shard"):
        (tmp_path / "empty").mkdir()
        URLSource(tmp_path / "empty").list_shards()


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    touch(tmp_path, "a-0.tar")
    with pytest.raises(FileNotFoundError, match=r"a-1\.tar"):
        listed(tmp_path, "a-{0..1}.tar")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        listed(tmp_path, "z*.tar")


@pytest.mark.parametrize("url", ["pipe:cat x.tar", "pipe:rm -rf x"])
def test_a_command_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="never run"):
        URLSource(url)


def test_an_unknown_scheme_is_refused_without_its_secrets() -> None:
    with pytest.raises(ValueError, match="no scheme 'ftp'") as caught:
        URLSource("ftp://user:secret@host/x.tar?token=secret")
    assert "secret" not in str(caught.value)
    assert "secret" not in repr(URLSource("https://user:secret@host/x.tar?token=secret"))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("file:///a/b%20c.tar", "/a/b c.tar"),
        ("file://localhost/a.tar", "/a.tar"),
        ("a/b.tar", "a/b.tar"),
        ("C:/x.tar", "C:/x.tar"),
        ("http://host/a.tar", None),
        ("s3://bucket/a.tar", None),
    ],
)
def test_which_names_are_local(name: str, path: str | None) -> None:
    assert local_path(name) == path


def test_a_file_url_of_another_host_is_refused() -> None:
    with pytest.raises(ValueError, match="another host"):
        local_path("file://host/a.tar")


def test_anyone_may_write_a_source(tmp_path: Path) -> None:
    touch(tmp_path, "a.tar")
    assert isinstance(URLSource(tmp_path), DataSource)
    (name, opened), *rest = URLSource(tmp_path).shards
    with opened:
        assert name.endswith("a.tar") and opened.read() == b"" and not rest
    with pytest.raises(TypeError, match="got int"):
        URLSource([3])  # type: ignore[list-item]
