"""Braces and globs name the shards that a shell would name."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.shards.pattern import MOST_SHARDS, expand_braces, has_glob, match_files

BASH = shutil.which("bash")


def in_bash(pattern: str) -> list[str]:
    assert BASH is not None
    done = subprocess.run(
        [BASH, "-c", f"printf '%s\\n' {pattern}"], check=True, capture_output=True, text=True, timeout=20
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "pattern",
    [
        "plain.tar",
        "data-{000000..000009}.tar",
        "{train,val}/x-{00..03}.tar",
        "{a,b}{c,d}",
        "a{b,{c,d}e}f",
        "{9..11}",
        "{09..11}",
        "{3..1}",
        "{0..10..4}",
        "{10..0..4}",
        "{-2..2}",
        "{single}",
        "{}",
        "{a,}x",
        "open{a,b",
        "{x{a,b}}",
        "shut}a,b",
        "{{0..2},z}",
        "a{1..2}b{3..4}c",
    ],
)
@pytest.mark.skipif(BASH is None, reason="bash is not installed")
def test_braces_are_spelled_out_as_bash_does(pattern: str) -> None:
    assert expand_braces(pattern) == in_bash(pattern)


PIECE = st.text("ab{},.0123", max_size=12)


@given(PIECE)
def test_any_text_gives_at_least_one_name(pattern: str) -> None:
    names = expand_braces(pattern)
    assert names
    assert len(names) > 1 or names == [pattern] or "{" in pattern


@given(st.integers(0, 500), st.integers(0, 500), st.integers(1, 6))
def test_a_range_counts_every_number_with_its_zeros(first: int, last: int, width: int) -> None:
    names = expand_braces(f"x{{{first:0{width}d}..{last:0{width}d}}}")
    step = 1 if first <= last else -1
    widest = max(len(f"{first:0{width}d}"), len(f"{last:0{width}d}"))
    padded = any(len(text) > 1 and text[0] == "0" for text in (f"{first:0{width}d}", f"{last:0{width}d}"))
    assert names == [f"x{n:0{widest if padded else 0}d}" for n in range(first, last + step, step)]


@pytest.mark.parametrize("pattern", ["{0..99999999999}", "{0..9999}{0..9999}", "{1..2000}{1..2000}{1..2000}"])
def test_a_pattern_of_too_many_shards_is_refused_before_they_are_listed(pattern: str) -> None:
    with pytest.raises(ValueError, match=f"more than {MOST_SHARDS:,} shards"):
        expand_braces(pattern)


def test_globs_match_files_in_order(tmp_path: Path) -> None:
    for name in ["b-1.tar", "b-0.tar", "c.txt", "deep/er/b-2.tar", "b-x.tar"]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def names(pattern: str) -> list[str]:
        return [str(Path(found).relative_to(tmp_path)) for found in match_files(str(tmp_path / pattern))]

    assert names("b-[0-9].tar") == ["b-0.tar", "b-1.tar"]
    assert names("*.tar") == ["b-0.tar", "b-1.tar", "b-x.tar"]
    assert names("**/*.tar") == ["b-0.tar", "b-1.tar", "b-x.tar", "deep/er/b-2.tar"]
    assert names("b-?.tar") == ["b-0.tar", "b-1.tar", "b-x.tar"]


def test_what_is_a_glob() -> None:
    assert has_glob("a*") and has_glob("a?") and has_glob("[0-9]")
    assert not has_glob("a.tar") and not has_glob("a[.tar") and not has_glob("a]b")
