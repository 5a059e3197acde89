"""The command `headrace demo`: writes digits, trains, measures, draws; imports what it needs when it runs."""

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace.cli.demo.digits import DigitFiles
    from headrace.cli.demo.train import Trainer

# What the demo imports, and the name that it is installed by.
PACKAGES = {"sklearn": "scikit-learn", "PIL": "pillow", "matplotlib": "matplotlib"}
INTERRUPTED = 130
NETWORK_DIGITS = 256


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `demo` to the command line's commands."""
    parser = commands.add_parser(
        "demo",
        help="train a digit classifier from PNG files through the loader",
        description="Writes scikit-learn's handwritten digits as PNG files, trains a small classifier from them "
        "through headrace.DataLoader, measures the loader, and saves a contact sheet and a chart. "
        "Ctrl-C saves a checkpoint; --resume goes on from it to exactly the same numbers. "
        "The files that an earlier demo left in DIR are written anew.",
    )
    parser.add_argument("--resume", action="store_true", help="go on from DIR/checkpoint.npz, where there is one")
    parser.add_argument("--out", type=Path, default=Path("demo-output"), metavar="DIR", help="(default: %(default)s)")
    parser.add_argument("--epochs", type=_at_least_one, default=8, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--workers", type=_not_negative, default=2, metavar="N", help="threads (default: %(default)s)")
    parser.add_argument(
        "--stop-after-batches", type=_at_least_one, metavar="K", help="save a checkpoint after K batches and stop"
    )
    parser.add_argument(
        "--network",
        action="store_true",
        help="instead: load the digits over HTTP from a local server with 10 ms of latency, "
        "and show what item_concurrency changes",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Runs the demo.

    Returns:
        0 when it came to its end or stopped where `--stop-after-batches` says, 2 without its packages,
        130 when Ctrl-C stopped it (a checkpoint is saved).
    """
    missing = [name for module, name in PACKAGES.items() if importlib.util.find_spec(module) is None]
    if missing:
        print(
            f"headrace demo: not installed: {', '.join(missing)}; run: pip install headrace[demo]",
            file=sys.stderr,
        )
        return 2

    from headrace.cli.demo import digits

    out: Path = arguments.out
    if arguments.network:
        from headrace.cli.demo import network

        network.show(out / "digits", digits.write_digits(out / "digits")[:NETWORK_DIGITS])
        return 0

    from headrace.cli.demo.train import Ending, Trainer

    training, test = digits.split(digits.write_digits(out / "digits"))
    print(f"wrote {len(training) + len(test)} digits to {out / 'digits'}: {len(training)} train, {len(test)} test")

    with Trainer(training, test, workers=arguments.workers, checkpoint=out / "checkpoint.npz") as trainer:
        if arguments.resume:
            if trainer.resume():
                print(f"resumed after batch {trainer.batches}")
                for epoch, accuracy in enumerate(trainer.history):
                    _print_epoch(epoch, accuracy)
            else:
                print(f"no checkpoint in {out} yet: starting from the beginning")
        ending = trainer.train(arguments.epochs, stop_after=arguments.stop_after_batches, on_epoch=_print_epoch)
        if ending is not Ending.FINISHED:
            again = f"headrace demo --resume --out {out} --epochs {arguments.epochs}"
            print(f"stopped after batch {trainer.batches}; go on with: {again}")
            return INTERRUPTED if ending is Ending.INTERRUPTED else 0
        print(f"final test accuracy {trainer.history[-1]:.2%}, weights {trainer.model.digest()[:16]}")
        print("the loader while training:")
        print(trainer.loader.report())
        _measure_and_draw(out, training, test, trainer, arguments.workers)
    return 0


def _measure_and_draw(out: Path, training: "DigitFiles", test: "DigitFiles", trainer: "Trainer", workers: int) -> None:
    """Prints throughput and saves both pictures."""
    from headrace.cli.demo import charts, throughput

    print(f"throughput, {workers} workers (median of {throughput.REPETITIONS} epochs each):")
    speeds = throughput.measure(training, workers)
    width = max(len(name) for name in speeds)
    for name, speed in speeds.items():
        print(f"  {name:<{width}}  {speed:8,.0f} images/s")
    if "torch" not in speeds:
        print("  (torch is not installed: left out)")
    sheet, chart = out / "contact-sheet.png", out / "chart.png"
    charts.save_contact_sheet(sheet, training, test, trainer.predict_test())
    charts.save_chart(chart, trainer.history, speeds)
    print(f"saved {sheet} and {chart}")


def _print_epoch(epoch: int, accuracy: float) -> None:
    print(f"epoch {epoch + 1:2d}  test accuracy {accuracy:.2%}", flush=True)


def _at_least_one(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text}")
    return value


def _not_negative(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text}")
    return value
