"""A shard's split is told by its own name or its folder, and never guessed."""

import pytest

from headrace.shards.splits import group_by_split, split_of, the_split


@pytest.mark.parametrize(
    ("name", "root", "split"),
    [
        ("train.tar", "", "train"),
        ("train-000.tar", "", "train"),
        ("train000.tar", "", "train"),
        ("x_test.tar", "", "test"),
        ("imagenet-train-000012.tar.gz", "", "train"),
        ("val.tar", "", "validation"),
        ("valid_01.tar", "", "validation"),
        ("dev-0.tar", "", "validation"),
        ("TRAIN-0.tar", "", "train"),
        ("latest.tar", "", None),
        ("strain.tar", "", None),
        ("data.tar", "", None),
        ("/test/home/data.tar", "", None),
        ("/test/home/data.tar", "/test/home", None),
        ("/test/home/train/0.tar", "/test/home", "train"),
        ("s3://bucket/set/val/000.tar", "s3://bucket/set", "validation"),
        ("https://host/set/x.tar?part=test", "https://host/set", None),
        ("a.test.tar", "", None),
        ("/data/train/train-0.tar", "/data", "train"),
    ],
)
def test_a_name_tells_its_split(name: str, root: str, split: str | None) -> None:
    assert split_of(name, root) == split


@pytest.mark.parametrize(("name", "root"), [("test_train.tar", ""), ("/data/train/test-0.tar", "/data")])
def test_two_readings_are_an_error(name: str, root: str) -> None:
    with pytest.raises(ValueError, match="reads as test and as train"):
        split_of(name, root)


def test_what_tells_no_split_is_train_when_nothing_else_is_there() -> None:
    assert group_by_split(["a.tar", "b.tar"]) == {"train": ["a.tar", "b.tar"]}


def test_what_tells_no_split_beside_others_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match=r"'extra\.tar' tells no split, though others here do \(test, train\)"):
        group_by_split(["train.tar", "extra.tar", "test.tar"])


def test_a_split_that_is_not_there_lists_what_is() -> None:
    groups = group_by_split(["train-0.tar", "dev-0.tar", "train-1.tar"])
    assert groups == {"train": ["train-0.tar", "train-1.tar"], "validation": ["dev-0.tar"]}
    assert the_split(groups, "val") == ["dev-0.tar"]
    with pytest.raises(ValueError, match="no split 'test' here; there is train, validation"):
        the_split(groups, "test")
