"""Compares data loaders: every configuration in a fresh process, the rounds interleaved.

python benchmarks/run.py                                      both workloads, this interpreter
python benchmarks/run.py overhead --peer headrace --peer plain
python benchmarks/run.py --python 313=PATH --python 314t=PATH --plot chart.png
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import adapters
import chart
import table
from bars import BARS, Key

TIME_LIMIT_S = 300


class Failed(Exception):
    """A process ended badly; the message is its last line of standard error."""


@dataclass
class Interpreter:
    """A Python to measure with, and what `measure.py probe` says of it."""

    tag: str
    executable: str
    environment: dict[str, str]
    found: dict[str, Any]

    def measure(self, *arguments: str) -> dict[str, Any]:
        """Runs `measure.py` and returns its answer.

        Raises:
            Failed: it exited with an error, or took longer than the limit.
        """
        command = [self.executable, str(Path(__file__).with_name("measure.py")), *arguments]
        try:
            done = subprocess.run(
                command, env=self.environment, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False
            )
        except OSError as error:
            raise Failed(f"{self.executable} cannot be started: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise Failed(f"took longer than {TIME_LIMIT_S} s") from None
        if done.returncode:
            raise Failed((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
        return json.loads(done.stdout.splitlines()[-1])


def interpreter(tag: str, executable: str) -> Interpreter:
    """Probes one interpreter; one built without the GIL is run without it, whatever its extensions ask for."""
    it = Interpreter(tag, executable, dict(os.environ), {})
    it.found = it.measure("probe")
    if it.found["gil_free"]:
        it.environment["PYTHON_GIL"] = "0"
    it.tag = tag or ".".join(it.found["python"].split(".")[:2]) + "t" * it.found["gil_free"]
    return it


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", nargs="*", help=f"of {', '.join(BARS)}; all by default")
    parser.add_argument("--peer", action="append", choices=adapters.NAMES, help="may be repeated; all by default")
    parser.add_argument("--python", action="append", default=[], metavar="TAG=PATH", help="instead of the running one")
    parser.add_argument("--rounds", type=int, default=3, help="processes for each configuration (3)")
    parser.add_argument("--plot", metavar="FILE", help="also draw the medians (needs matplotlib)")
    given = parser.parse_args()
    given.workload = list(dict.fromkeys(given.workload)) or list(BARS)
    for name in given.workload:
        if name not in BARS:
            parser.error(f"workload {name!r} is none of {', '.join(BARS)}")
    for entry in given.python:
        if "=" not in entry:
            parser.error(f"--python takes TAG=PATH, not {entry!r}")
    if given.plot and find_spec("matplotlib") is None:
        parser.error("--plot needs matplotlib: pip install matplotlib")
    if given.rounds < 1:
        parser.error(f"--rounds takes 1 or more, not {given.rounds}")
    return given


def configurations(interpreters: list[Interpreter], peers: list[str]) -> list[tuple[Interpreter, str, int]]:
    """Every interpreter, peer and worker count that can be run; names the peers that are left out."""
    chosen = []
    for it in interpreters:
        for peer in peers:
            version = it.found["peers"][peer]
            if version is None:
                print(f"left out: {peer} is not installed for {it.tag}")
                continue
            print(f"{it.tag} (Python {it.found['python']}): {peer} {version}".rstrip())
            chosen += [(it, peer, workers) for workers in it.found["workers"][peer]]
    return chosen


def progress(text: str) -> None:
    """Shows what is being measured, on a terminal alone."""
    if sys.stderr.isatty():
        print("\r" + text.ljust(60), end="\r", file=sys.stderr, flush=True)


def compare(
    workload: str, chosen: list[tuple[Interpreter, str, int]], rounds: int, folder: Path
) -> dict[Key, list[float]]:
    """Runs every configuration once a round; one that fails is named and left out of what follows."""
    chosen = list(chosen)
    chosen[0][0].measure("prepare", workload, str(folder))
    results: dict[Key, list[float]] = defaultdict(list)
    for turn in range(rounds):
        for config in list(chosen):
            it, peer, workers = config
            progress(f"{workload}, round {turn + 1}: {it.tag} {peer} {workers}")
            try:
                run = it.measure("time", workload, str(folder), peer, str(workers))
            except Failed as failure:
                print(f"left out: {peer} with {workers} workers on {it.tag}: {failure}")
                chosen.remove(config)
                continue
            for figure, values in table.figures(workload, run).items():
                results[figure, it.tag, peer, workers] += values
    progress("")
    return results


def main() -> None:
    """Measures, prints the tables, draws the chart."""
    given = options()
    pythons = [entry.split("=", 1) for entry in given.python] or [("", sys.executable)]
    try:
        interpreters = [interpreter(tag, path) for tag, path in pythons]
    except Failed as failure:
        sys.exit(str(failure))
    gil_free = {it.tag for it in interpreters if it.found["gil_free"]}
    chosen = configurations(interpreters, given.peer or list(adapters.NAMES))
    if not chosen:
        sys.exit("nothing to measure: no peer that was asked for is installed")

    results = {}
    for workload in given.workload:
        with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
            results[workload] = compare(workload, chosen, given.rounds, Path(folder))
        print(f"\n## {workload}: median (smallest to largest) of {given.rounds} rounds")
        for figure in table.FIGURES[workload]:
            print(f"\n### {figure}\n\n{table.of_figure(figure, results[workload])}")
        bars = table.of_bars(BARS[workload], results[workload], gil_free)
        print(f"\n### bars\n\n{bars or 'None: no two peers that a bar compares were measured.'}", flush=True)
    if given.plot:
        chart.save(given.plot, results, table.FIGURES)


if __name__ == "__main__":
    main()
