"""`headrace demo --network`: a server that ends, the same digits at any concurrency, a table in words."""

import re
import shutil
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from headrace.cli import main

pytest.importorskip("sklearn", reason="pip install headrace[demo]")
pytest.importorskip("PIL", reason="pip install headrace[demo]")

from headrace.cli.demo import digits, network


def test_the_server_serves_the_files_and_ends_with_its_client(tmp_path: Path) -> None:
    (tmp_path / "0_1.png").write_bytes(b"picture")
    with network.server(tmp_path, 1) as base:
        with urllib.request.urlopen(f"{base}/0_1.png") as answer:
            assert answer.read() == b"picture"
        with pytest.raises(urllib.error.HTTPError, match="404") as caught:
            urllib.request.urlopen(f"{base}/other.png")
        caught.value.close()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{base}/0_1.png")


@pytest.mark.skipif(shutil.which("true") is None, reason="a program that prints nothing")
def test_a_server_that_cannot_start_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("true"))
    with pytest.raises(RuntimeError, match="did not start"), network.server(tmp_path):
        pass


def test_every_concurrency_loads_the_same_digits(tmp_path: Path) -> None:
    paths = digits.write_digits(tmp_path)[:40]
    with network.server(tmp_path, 1) as base:
        rows = network.measure(base, paths, (2, 8))
    assert [row.item_concurrency for row in rows] == [2, 8]
    assert all(row.digits_per_s == pytest.approx(40 / row.seconds) for row in rows)


def test_the_table_says_what_the_rows_mean() -> None:
    rows = [network.Row(1, 2.0, 100.0), network.Row(16, 0.1, 2000.0), network.Row(64, 0.2, 1000.0)]
    lines = network.table(rows, 10).splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["1", "2.00", "100", "1.0"],
        ["16", "0.10", "2,000", "20.0"],
        ["64", "0.20", "1,000", "10.0"],
    ]
    assert lines[4].startswith("Every digit is 10 ms away") and "16 in flight" in lines[4] and "20 times" in lines[4]


def test_the_command_prints_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--network", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^256 digits over HTTP, 10 ms each", printed)
    assert len(re.findall(r"^ +\d+ +[\d.]+ +[\d,]+ +[\d.]+$", printed, re.MULTILINE)) == len(network.IN_FLIGHT)
    assert list((tmp_path / "digits").iterdir())
