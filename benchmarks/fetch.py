"""Many requests in flight, and many small files: headrace beside its peers and beside the limit (wrk, cat).

    python benchmarks/fetch.py http files
    python benchmarks/fetch.py http --in-flight 64 512 --python "dataloader-rs=PATH" --rounds 5

Each peer runs in a process of its own, a round after the other; a peer that is not installed is named and left out.
`--python PEER=PATH` runs a peer with another interpreter, which its line then says.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from statistics import median

from fetch_peers import PEERS
from table import cell, rows

HERE = Path(__file__).resolve().parent


def limit(name: str, place: str, items: list[str], in_flight: int) -> list[float]:
    """Seconds that the server, or the page cache, needs for the same bytes; empty where the tool is missing."""
    if name == "http":
        if shutil.which("wrk") is None:
            return []
        command = ["wrk", "-t1", f"-c{in_flight}", "-d3", f"{place}/1"]
        found = re.search(r"Requests/sec:\s+([\d.]+)", subprocess.run(command, capture_output=True, text=True).stdout)
        return [len(items) / float(found[1])] if found else []
    start = time.perf_counter()
    with open("/dev/null", "wb") as nowhere:
        for begin in range(0, len(items), 5_000):
            # Not /dev/null as cat's own output: a pipe, so that the bytes are read.
            with subprocess.Popen(["cat", *items[begin : begin + 5_000]], stdout=subprocess.PIPE) as cat:
                assert cat.stdout is not None
                while block := cat.stdout.read(1 << 20):
                    nowhere.write(block)
    return [time.perf_counter() - start]


def compare(name: str, in_flight: int, rounds: int, pythons: dict[str, str]) -> str:
    """The table of one workload."""
    workload = import_module(f"workloads.{name}")
    measured: dict[str, list[dict[str, float]]] = {}
    limits: list[float] = []
    left_out = set()
    with workload.place() as place:
        for _ in range(rounds):
            limits += limit(name, place, workload.items(place), in_flight)
            for peer in PEERS[name]:
                python = pythons.get(peer, sys.executable)
                command = [python, str(HERE / "fetch_peers.py"), peer, name, place, str(in_flight)]
                done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
                if done.returncode:
                    left_out.add(f"{peer}: {(done.stderr.strip().splitlines() or ['no word'])[-1]}")
                    continue
                measured.setdefault(peer, []).extend(json.loads(done.stdout))
    best = median(limits) if limits else None
    lines = [["wrk" if name == "http" else "cat", cell(limits), "1" if limits else "-", "-", "-"]]
    for peer, epochs in measured.items():
        seconds = [epoch["s"] for epoch in epochs]
        lines.append(
            [
                peer + (" (another interpreter)" if peer in pythons else ""),
                cell(seconds),
                f"{median(seconds) / best:.2f}" if best else "-",
                cell([epoch["cpu_s"] for epoch in epochs]),
                cell([epoch["first_s"] * 1e3 for epoch in epochs]),
            ]
        )
    text = rows(["peer", "seconds", "of the limit", "CPU s", "first batch, ms"], lines)
    return "\n".join([text, *(f"left out: {reason}" for reason in sorted(left_out))])


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", nargs="*", metavar="WORKLOAD", help="http, files; both when none is named")
    parser.add_argument("--in-flight", nargs="+", type=int, default=[64], help="requests at once (http)")
    parser.add_argument("--workers", nargs="+", type=int, default=[2], help="threads (files)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PATH")
    given = parser.parse_args()
    pythons = dict(entry.split("=", 1) for entry in given.python)
    if unknown := set(given.workload) - set(PEERS):
        parser.error(f"no workload is called {sorted(unknown)}; there are {[*PEERS]}")
    for name in given.workload or PEERS:
        for at_once in given.in_flight if name == "http" else given.workers:
            print(f"\n## {name}, {at_once} at once: median (smallest to largest) of {given.rounds} rounds\n")
            print(compare(name, at_once, given.rounds, pythons), flush=True)


if __name__ == "__main__":
    main()
