"""The medians as a bar chart."""

from collections.abc import Mapping, Sequence
from statistics import median

from bars import Key


def save(path: str, results: Mapping[str, Mapping[Key, Sequence[float]]], figures: Mapping[str, Sequence[str]]) -> None:
    """Writes one panel a workload to `path` (PNG, SVG or PDF, by its ending): its first figure, with the spread.

    Raises:
        ImportError: matplotlib is not installed for the running interpreter.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(results), figsize=(8 * len(results), 8), squeeze=False)
    for panel, (workload, measured) in zip(panels[0], results.items(), strict=True):
        name = figures[workload][0]
        shown = {key: values for key, values in measured.items() if key[0] == name}
        labels = [f"{peer}, {workers} workers ({tag})" for _, tag, peer, workers in shown]
        medians = [median(values) for values in shown.values()]
        spread = [
            [m - min(v) for m, v in zip(medians, shown.values(), strict=True)],
            [max(v) - m for m, v in zip(medians, shown.values(), strict=True)],
        ]
        colours = ["tab:orange" if key[2] == "headrace" else "tab:gray" for key in shown]
        panel.barh(labels, medians, xerr=spread, color=colours)
        panel.invert_yaxis()
        panel.set_title(f"{workload}: {name}")
        if workload == "overhead":
            panel.set_xscale("log")
            panel.set_xlim(left=1)
    figure.tight_layout()
    figure.savefig(path)
