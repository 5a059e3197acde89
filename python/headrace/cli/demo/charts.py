"""The pictures: a contact sheet of digits and a chart of accuracy and throughput."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageDraw

from headrace import DataLoader
from headrace.cli.demo.atomic import write_whole
from headrace.cli.demo.digits import SIDE, DigitFiles, Pixels, augment, collate

COLUMNS = 10  # digits of each class on a sheet
TILE, MARGIN, HEADER = 40, 4, 18  # pixels
RIGHT, WRONG, INK = (90, 150, 90), (220, 40, 40), (30, 30, 30)


def save_contact_sheet(path: Path, training: DigitFiles, test: DigitFiles, predicted: npt.NDArray[np.int64]) -> None:
    """Saves two blocks of ten rows, one a digit: test digits as the model names them, and augmented training digits.

    In each row of test digits those that the model misreads come first, in red frames, with what it read.
    """
    cell = TILE + MARGIN
    block = COLUMNS * cell + MARGIN
    sheet = Image.new("RGB", (2 * block + cell, HEADER + COLUMNS * cell + MARGIN), (255, 255, 255))
    draw = ImageDraw.Draw(sheet)
    draw.text((MARGIN, 3), "test digits; first, in red, those misread, with what the model read", fill=INK)
    draw.text((block + cell, 3), "training digits as augmented for one epoch", fill=INK)
    for label in range(10):
        top = HEADER + label * cell
        members = [i for i, file in enumerate(test.paths) if int(file.name.partition("_")[0]) == label]
        members.sort(key=lambda i: predicted[i] == label)  # stable: wrong ones first, else in order
        for column, index in enumerate(members[:COLUMNS]):
            left = MARGIN + column * cell
            colour = RIGHT if predicted[index] == label else WRONG
            sheet.paste(_tile(test[index].pixels), (left, top))
            draw.rectangle((left - 1, top - 1, left + TILE, top + TILE), outline=colour, width=2)
            if colour == WRONG:
                draw.rectangle((left + 1, top + 1, left + 10, top + 13), fill=(255, 255, 255))
                draw.text((left + 3, top + 1), str(predicted[index]), fill=WRONG)
        for column, pixels in enumerate(_augmented(training, label)):
            sheet.paste(_tile(pixels), (block + cell + column * cell, top))
    write_whole(path, lambda file: sheet.save(file, format="PNG"))


def save_chart(path: Path, history: Sequence[float], speeds: Mapping[str, float]) -> None:
    """Saves test accuracy by epoch beside images a second by loader."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    epochs = range(1, len(history) + 1)
    left.plot(epochs, [100 * accuracy for accuracy in history], marker="o", color="tab:blue")
    left.set(title="Test accuracy", xlabel="epoch", ylabel="%")
    left.xaxis.get_major_locator().set_params(integer=True)
    left.annotate(
        f"{history[-1]:.2%}", (len(history), 100 * history[-1]), (-8, -16), textcoords="offset points", ha="right"
    )
    left.grid(alpha=0.3)
    bars = right.bar(
        list(speeds), list(speeds.values()), color=["tab:orange" if n == "headrace" else "tab:gray" for n in speeds]
    )
    right.bar_label(bars, fmt="{:,.0f}")
    right.margins(y=0.1)  # room for the labels
    right.set(title="Throughput", ylabel="images/s")
    write_whole(path, lambda file: canvas.print_png(file))


def _augmented(training: DigitFiles, label: int) -> list[Pixels]:
    """Training digits of one class as an epoch's transform gives them."""
    named = (path for path in training.paths if int(path.name.partition("_")[0]) == label)
    some = DigitFiles(list(itertools.islice(named, COLUMNS)))
    with DataLoader(some, batch_size=COLUMNS, collate_fn=collate, transform=augment, rng_seed=0) as loader:
        (batch,) = list(loader)
    return list(batch.pixels.reshape(-1, SIDE, SIDE))


def _tile(pixels: Pixels) -> Image.Image:
    gray = np.rint(255 - 255 * pixels).astype(np.uint8)
    return Image.fromarray(gray).resize((TILE, TILE), Image.Resampling.NEAREST).convert("RGB")
