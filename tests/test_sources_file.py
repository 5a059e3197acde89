"""FileDataset, and the templates that sources share."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from headrace import FileDataset, HttpDataset, errors


def test_files_are_read_whole_and_in_order(tmp_path: Path) -> None:
    bodies = [os.urandom(size) for size in (0, 1, 4096, 100_000)]
    paths = [tmp_path / str(n) for n in range(len(bodies))]
    for path, body in zip(paths, bodies, strict=True):
        path.write_bytes(body)
    for keywords in ({}, {"timeout": 20.0}, {"retries": 1}):
        dataset = FileDataset(paths, **keywords)  # type: ignore[arg-type]
        assert dataset.fetch([3, 0, -2, 1]) == [bodies[3], bodies[0], bodies[2], bodies[1]]
        assert pickle.loads(pickle.dumps(dataset))[-1] == bodies[-1]
        with pytest.raises(IndexError):
            dataset[-5]


def test_failures_have_their_class(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 100)
    dataset = FileDataset([tmp_path / "none", tmp_path / "big", tmp_path], max_bytes=99)
    kinds = (errors.NotFoundError, errors.ItemTooLargeError, errors.SourceError)
    for index, kind in enumerate(kinds):
        with pytest.raises(kind) as caught:
            dataset[index]
        assert (caught.value.index, caught.value.attempts) == (index, 1)
    with pytest.raises(FileNotFoundError, match="none"):
        dataset[0]


def test_a_hung_file_fails_in_time_and_does_not_hold_up_the_exit(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    code = f"""
import headrace
try:
    headrace.FileDataset([{str(tmp_path / "fifo")!r}], timeout=0.1)[0]
except TimeoutError as error:
    print(error.kind, error.attempts)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["timeout", "1"]


def test_a_forked_child_has_connections_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    dataset = FileDataset([tmp_path / "a"], timeout=20)
    assert dataset[0] == b"a"
    code = f"""
import os, headrace
dataset = headrace.FileDataset([{str(tmp_path / "a")!r}], timeout=20)
assert dataset[0] == b"a"
if (child := os.fork()) == 0:
    assert dataset[0] == b"a"
    del dataset
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), dataset[0])
"""
    flags = ["-W", "ignore::DeprecationWarning"]
    done = subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["0", "b'a'"]


@pytest.mark.parametrize(
    "values", [[1, 2], np.array([1, 2], np.uint8), np.array([[1, 0], [2, 0]])[:, 0], ["1", "2"], np.array(["1", "2"])]
)
def test_columns(tmp_path: Path, values: object) -> None:
    for n in (1, 2):
        (tmp_path / f"{n}-{{{n - 1}}}").write_bytes(b"%d" % n)
    dataset = FileDataset.from_template(f"{tmp_path}/{{n}}-{{{{{{index}}}}}}", {"n": values})  # type: ignore[dict-item]
    assert dataset.fetch([0, 1]) == [b"1", b"2"]
    assert pickle.loads(pickle.dumps(dataset))[1] == b"2"


def test_integers_at_their_limits() -> None:
    for value in (-(2**63), 2**64 - 1, 2**70):
        dataset = HttpDataset.from_template("http://h/{a}", {"a": [value]})
        assert dataset._source.location(0) == f"http://h/{value}"
    many = HttpDataset.from_template("http://h/{index}", length=34_000)
    assert (len(many), many._source.location(33_999)) == (34_000, "http://h/33999")


@pytest.mark.parametrize("value", ["..", ".", "a/b", "a\\b", "a\0b"])
def test_a_value_cannot_leave_the_directory(value: str) -> None:
    with pytest.raises(ValueError, match='item 1: column "a"'):
        FileDataset.from_template("/d/{a}", {"a": ["fine", value]})


def test_templates_are_checked_when_the_dataset_is_made() -> None:
    for template, columns, length in [
        ("/{a}", None, 1),
        ("/{a}", {"a": [1], "b": [1]}, None),
        ("/{a}{b}", {"a": [1], "b": [1, 2]}, None),
        ("/{a}", {"a": [1]}, 2),
        ("/{index}", None, None),
        ("/{", None, 1),
    ]:
        with pytest.raises(ValueError):
            FileDataset.from_template(template, columns, length=length)  # type: ignore[arg-type]
    for column in ([True], [1.0], ["a", 1], np.array([1.5]), np.array([True]), "text"):
        with pytest.raises(TypeError):
            FileDataset.from_template("/{a}", {"a": column})  # type: ignore[dict-item]
    with pytest.raises(ValueError):
        HttpDataset.from_template("http://{a}/x", {"a": ["fine", "a b"]})
