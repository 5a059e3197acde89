"""Medians with their spread, and the bars, as Markdown tables."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from bars import Bar, Key

CPU = "CPU µs a batch, worker processes left out"
FIGURES = {"overhead": ("µs a batch", CPU, "first batch, ms"), "arrays": ("samples/s", CPU, "first batch, ms")}
"""What is read from a workload's runs; the CPU time tells a busy machine from a slow loader."""


def figures(workload: str, run: Mapping[str, Any]) -> dict[str, list[float]]:
    """The figures of one process, a value for each epoch that counts."""
    if workload == "overhead":
        steady = {"µs a batch": [s / run["batches"] * 1e6 for s in run["epochs_s"]]}
    else:
        steady = {"samples/s": [run["samples"] / s for s in run["epochs_s"]]}
    cpu = [s / run["batches"] * 1e6 for s in run["cpu_s"]]
    return {**steady, CPU: cpu, "first batch, ms": [run["first_s"] * 1e3]}


def number(value: float) -> str:
    """Three digits that matter, and no more."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def cell(values: Sequence[float] | None) -> str:
    """`median (smallest-largest)`, or a dash."""
    if not values:
        return "-"
    return f"{number(median(values))} ({number(min(values))}-{number(max(values))})"


def rows(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose columns line up."""
    table = [list(header), *map(list, lines)]
    widths = [max(len(line[k]) for line in table) for k in range(len(header))]
    text = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in table]
    return "\n".join([text[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *text[1:]])


def of_figure(figure: str, results: Mapping[Key, Sequence[float]]) -> str:
    """One table: a line for each interpreter and peer, a column for each worker count."""
    workers = sorted({key[3] for key in results})
    lines = dict.fromkeys((tag, peer) for name, tag, peer, _ in results if name == figure)
    return rows(
        ["python", "peer", *(f"{n} workers" for n in workers)],
        ([tag, peer, *(cell(results.get((figure, tag, peer, n))) for n in workers)] for tag, peer in lines),
    )


def of_bars(bars: Iterable[Bar], results: Mapping[Key, Sequence[float]], gil_free: Collection[str]) -> str:
    """One table: what was measured beside each bar, on each interpreter where it can be read; '' if none can."""
    medians = {key: median(values) for key, values in results.items()}
    lines = []
    for bar in bars:
        for tag in dict.fromkeys(key[1] for key in results):
            value = bar.value(medians, tag)
            if value is not None and bar.only in ("", "free" if tag in gil_free else "gil"):
                lines.append(
                    [bar.text, tag, f"{value:.2f}", f"{bar.sign} {bar.limit:g}", "yes" if bar.holds(value) else "NO"]
                )
    return rows(["bar", "python", "measured", "wanted", "holds"], lines) if lines else ""
