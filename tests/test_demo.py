"""`headrace demo`: what it trains to, that a resume changes nothing, what it leaves behind, how it fails."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from headrace.cli import main

pytest.importorskip("sklearn", reason="pip install headrace[demo]")
pytest.importorskip("PIL", reason="pip install headrace[demo]")
pytest.importorskip("matplotlib", reason="pip install headrace[demo]")

from PIL import Image

from headrace.cli.demo import digits, throughput
from headrace.cli.demo.atomic import write_whole
from headrace.cli.demo.model import Model
from headrace.cli.demo.train import Ending, Trainer

EPOCHS = 3


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[digits.DigitFiles, digits.DigitFiles]:
    return digits.split(digits.write_digits(tmp_path_factory.mktemp("digits")))


@pytest.fixture(scope="module")
def uninterrupted(files: tuple[digits.DigitFiles, digits.DigitFiles], tmp_path_factory: pytest.TempPathFactory):
    """Accuracies and the weights' digest of a run that nothing stops."""
    with Trainer(*files, workers=2, checkpoint=tmp_path_factory.mktemp("run") / "checkpoint.npz") as trainer:
        assert trainer.train(EPOCHS) is Ending.FINISHED
        return trainer.history, trainer.model.digest()


def test_files_hold_every_digit_and_the_split_is_whole(files) -> None:
    training, test = files
    assert (len(training), len(test)) == (1437, 360)
    assert len({*training.paths, *test.paths}) == 1797
    with Image.open(test.paths[0]) as image:
        assert (image.format, image.size, image.mode) == ("PNG", (8, 8), "L")
    assert {test[i].label for i in range(len(test))} == set(range(10))
    assert test[0].pixels.dtype == np.float32
    assert 0 <= test[0].pixels.min() < test[0].pixels.max() <= 1


def test_a_run_reaches_its_accuracy_and_leaves_both_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    accuracies = re.findall(r"^epoch +\d+ +test accuracy ([\d.]+)%$", printed, re.MULTILINE)
    assert len(accuracies) == 8
    assert float(accuracies[-1]) >= 96
    for expected in ("plain loop", "headrace", "images/s", "torch"):
        assert expected in printed
    for name in ("contact-sheet.png", "chart.png"):
        with Image.open(tmp_path / name) as image:
            image.load()
            assert image.width > 600
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "chart.png",
        "checkpoint.npz",
        "contact-sheet.png",
        "digits",
    ]


@pytest.mark.parametrize("stop", [1, 44, 45, 50, 90])  # an epoch has 45 batches
@pytest.mark.parametrize("workers", [0, 3])
def test_resume_ends_in_the_same_numbers(files, uninterrupted, tmp_path: Path, stop: int, workers: int) -> None:
    checkpoint = tmp_path / "checkpoint.npz"
    with Trainer(*files, workers=2, checkpoint=checkpoint) as trainer:
        assert trainer.train(EPOCHS, stop_after=stop) is Ending.STOPPED
        assert trainer.batches == stop
    with Trainer(*files, workers=workers, checkpoint=checkpoint) as trainer:
        assert trainer.resume()
        assert trainer.batches == stop
        assert trainer.train(EPOCHS) is Ending.FINISHED
        assert (trainer.history, trainer.model.digest()) == uninterrupted


@pytest.mark.parametrize("workers", [0, 3])
def test_worker_counts_do_not_change_the_weights(files, uninterrupted, tmp_path: Path, workers: int) -> None:
    with Trainer(*files, workers=workers, checkpoint=tmp_path / "checkpoint.npz") as trainer:
        trainer.train(EPOCHS)
        assert (trainer.history, trainer.model.digest()) == uninterrupted


def test_a_run_stopped_again_and_again_ends_in_the_same_numbers(files, uninterrupted, tmp_path: Path) -> None:
    for attempt in range(10):
        with Trainer(*files, workers=attempt % 3, checkpoint=tmp_path / "checkpoint.npz") as trainer:
            assert trainer.resume() is (attempt > 0)
            if trainer.train(EPOCHS, stop_after=31) is Ending.FINISHED:
                assert (trainer.history, trainer.model.digest()) == uninterrupted
                return
    pytest.fail("ten runs of 31 batches did not make 135")


def test_resuming_a_finished_run_trains_nothing(files, tmp_path: Path) -> None:
    with Trainer(*files, workers=2, checkpoint=tmp_path / "checkpoint.npz") as trainer:
        trainer.train(1)
        history, digest = trainer.history, trainer.model.digest()
    with Trainer(*files, workers=2, checkpoint=tmp_path / "checkpoint.npz") as trainer:
        assert trainer.resume()
        assert trainer.train(1) is Ending.FINISHED
        assert (trainer.batches, trainer.history, trainer.model.digest()) == (45, history, digest)


def test_the_command_resumes_to_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(throughput, "REPETITIONS", 1)

    def final(*arguments: str) -> str:
        assert main(["demo", "--epochs", "2", *arguments]) == 0
        return "".join(re.findall(r"^(?:epoch|final).*\n", capsys.readouterr().out, re.MULTILINE))

    whole = final("--out", str(tmp_path / "whole"))
    stopped = final("--out", str(tmp_path / "stopped"), "--stop-after-batches", "50", "--workers", "0")
    assert stopped == whole.splitlines(keepends=True)[0]
    assert final("--out", str(tmp_path / "stopped"), "--resume", "--workers", "3") == whole
    first, second = (np.load(tmp_path / name / "checkpoint.npz") for name in ("whole", "stopped"))
    with first, second:
        assert first.files == second.files
        for name in set(first.files) - {"loader"}:
            np.testing.assert_array_equal(first[name], second[name])
        assert json.loads(first["loader"].item()) == json.loads(second["loader"].item())


def test_ctrl_c_saves_the_step_it_stopped_after(files, uninterrupted, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint.npz"
    handler = signal.getsignal(signal.SIGINT)
    with Trainer(*files, workers=2, checkpoint=checkpoint) as trainer:
        step = trainer.model.step

        def interrupted_step(batch: digits.Batch) -> None:
            if trainer.batches == 52:
                signal.raise_signal(signal.SIGINT)
            step(batch)

        trainer.model.step = interrupted_step  # type: ignore[method-assign]
        assert trainer.train(EPOCHS) is Ending.INTERRUPTED
        assert trainer.batches == 53
    assert signal.getsignal(signal.SIGINT) is handler
    with Trainer(*files, workers=2, checkpoint=checkpoint) as trainer:
        assert trainer.resume()
        trainer.train(EPOCHS)
        assert (trainer.history, trainer.model.digest()) == uninterrupted


def test_a_killed_run_resumes_from_its_last_checkpoint(files, uninterrupted, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-c", "import sys; from headrace.cli import main; sys.exit(main())"]
    command += ["demo", "--out", str(out), "--epochs", "100000"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
    assert child.stdout is not None
    timer = threading.Timer(60, child.kill)
    timer.start()
    try:
        for line in child.stdout:
            if line.startswith("epoch  1"):
                break
        child.kill()
    finally:
        timer.cancel()
        child.stdout.close()
        child.wait()
    with Trainer(*files, workers=1, checkpoint=out / "checkpoint.npz") as trainer:
        assert trainer.resume()
        assert len(trainer.history) >= 1
        if len(trainer.history) < EPOCHS:
            trainer.train(EPOCHS)
            assert (trainer.history, trainer.model.digest()) == uninterrupted
        assert trainer.history[:EPOCHS] == uninterrupted[0]


def test_augmentation_keeps_shape_and_range_and_repeats_by_seed(files) -> None:
    digit = files[0][0]
    one, same, other = (digits.distort(digit, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one.pixels.shape == (8, 8) and one.pixels.dtype == np.float32
    assert one.pixels.min() >= 0 and one.pixels.max() <= 1
    np.testing.assert_array_equal(one.pixels, same.pixels)
    assert not np.array_equal(one.pixels, other.pixels)


def test_the_model_refuses_arrays_of_another_shape() -> None:
    arrays = Model().arrays()
    arrays["weights.hidden"] = np.zeros((3, 3))
    with pytest.raises(ValueError, match=r"expected weights\.hidden of shape \(64, 128\), found \(3, 3\)"):
        Model().load(arrays)


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 cut short"])
def test_a_damaged_checkpoint_is_one_line(tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "checkpoint.npz").write_bytes(content)
    assert main(["demo", "--out", str(tmp_path), "--resume"]) == 1
    error = capsys.readouterr().err
    assert "checkpoint.npz cannot be resumed" in error
    assert error.count("\n") == 1
    assert (tmp_path / "checkpoint.npz").read_bytes() == content


def test_resume_without_a_checkpoint_starts_from_the_beginning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--out", str(tmp_path), "--resume", "--stop-after-batches", "2"]) == 0
    assert "starting from the beginning" in capsys.readouterr().out


def test_a_missing_package_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "PIL" else find(name))
    assert main(["demo"]) == 2
    error = capsys.readouterr().err
    assert error == "headrace demo: not installed: pillow; run: pip install headrace[demo]\n"


@pytest.mark.parametrize(
    "arguments",
    [[], ["unknown"], ["demo", "--epochs", "0"], ["demo", "--workers", "-1"], ["demo", "--stop-after-batches", "x"]],
)
def test_wrong_usage_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        main(arguments)
    assert ending.value.code == 2
    assert "usage: headrace" in capsys.readouterr().err


def test_the_command_line_imports_no_extra() -> None:
    code = (
        "import sys, headrace.cli\n"
        "print([n for n in ('sklearn', 'PIL', 'matplotlib', 'torch', 'scipy') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, lambda file: file.write(b"old"))

    def fail(file: object) -> None:
        file.write(b"ne")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, fail)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
