"""Samples and schemas cross over to atdata and back, with the real package in an environment of its own."""

from __future__ import annotations

import datetime
import enum
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import headrace
from headrace import DictSample, PackableSample, Schema

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def atdata() -> Any:
    python = Path(os.environ.get("HEADRACE_PEERS_PYTHON", ROOT / ".venv-peers" / "bin" / "python"))
    if not python.exists():
        pytest.skip(f"no {python}: `make peers` (Python 3.12 or newer) installs atdata beside the tests")

    def run(program: str, *paths: Path) -> str:
        result = subprocess.run(
            [str(python), "-c", program, *map(str, paths)], capture_output=True, text=True, timeout=100, check=False
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run


class Color(enum.Enum):
    RED = "red"


class Inner(PackableSample):
    x: int


class Item(PackableSample):
    image: NDArray[np.uint8]
    matrix: NDArray[np.float64]
    label: str
    count: int
    weight: float
    good: bool
    data: bytes
    tags: list[str]
    none: NDArray[np.float32] | None = None
    when: datetime.date = datetime.date(2026, 1, 2)
    color: Color = Color.RED
    inner: Inner | None = None


def item() -> Item:
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    matrix = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    return Item(image, matrix, "é", 2**63, 0.5, True, b"\x00\xff", ["a", "b"], inner=Inner(3))


READ = """
import json, sys
from typing import Any
import numpy as np, atdata
from numpy.typing import NDArray

@atdata.packable
class Item:
    image: NDArray
    matrix: NDArray
    label: str
    count: int
    weight: float
    good: bool
    data: bytes
    tags: list
    none: NDArray | None = None
    when: str = ""
    color: str = ""
    inner: Any = None

sample = Item.from_bytes(open(sys.argv[1], "rb").read())
open(sys.argv[2], "wb").write(sample.packed)
plain = {name: value for name, value in vars(sample).items() if isinstance(value, (str, int, float, bool, list, dict))}
print(json.dumps({**plain, "image": sample.image.tolist(), "matrix": sample.matrix.tolist(), "data": sample.data.hex(),
    "dtypes": [sample.image.dtype.str, sample.matrix.dtype.str], "none": sample.none}))
"""


def test_atdata_reads_what_headrace_writes_and_back(atdata: Any, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.write_bytes(item().packed)
    told = json.loads(atdata(READ, ours, theirs))
    assert told["image"] == item().image.tolist() and told["matrix"] == item().matrix.tolist()
    assert told["dtypes"] == ["|u1", "<f8"] and told["none"] is None and told["data"] == "00ff"
    plain = ("label", "count", "weight", "good", "tags", "when", "color", "inner")
    assert {name: told[name] for name in plain} == {
        "label": "é",
        "count": 2**63,
        "weight": 0.5,
        "good": True,
        "tags": ["a", "b"],
        "when": "2026-01-02",
        "color": "red",
        "inner": {"x": 3},
    }
    assert Item.from_bytes(theirs.read_bytes(), validate=True) == item()
    assert theirs.read_bytes() == ours.read_bytes()
    guessed = DictSample.from_bytes(theirs.read_bytes())
    assert np.array_equal(guessed.image, item().image) and guessed.data == b"\x00\xff"


SCHEMA = """
import json, sys
from atdata._schema_codec import _schema_to_type
made = _schema_to_type(json.load(open(sys.argv[1])))
sample = made.from_bytes(open(sys.argv[2], "rb").read())
print(json.dumps([made.__name__, type(sample.image).__name__, sample.label, sample.when, sample.tags]))
"""


def test_atdata_makes_a_class_of_headrace_s_schema(atdata: Any, tmp_path: Path) -> None:
    record, data = tmp_path / "schema.json", tmp_path / "data"
    record.write_text(json.dumps(Item.schema().to_json()))
    data.write_bytes(item().packed)
    assert json.loads(atdata(SCHEMA, record, data)) == ["Item", "ndarray", "é", "2026-01-02", ["a", "b"]]


THEIR_SCHEMA = """
import json
import atdata
from numpy.typing import NDArray
from atdata.index._schema import _build_schema_record

@atdata.packable
class Their:
    image: NDArray
    label: str
    count: int | None
    words: list[str]

print(json.dumps(_build_schema_record(Their, version="1.2.3"), default=str))
"""


def test_headrace_makes_a_class_of_atdata_s_schema(atdata: Any) -> None:
    schema = Schema.from_json(json.loads(atdata(THEIR_SCHEMA)))
    assert schema.name.endswith("Their") and schema.version == "1.2.3"
    assert [field.kind for field in schema.fields.values()] == ["ndarray", "scalar", "scalar", "sequence"]
    # The record says float32 of every array, and is not believed.
    assert schema.fields["image"].dtype is None and schema.fields["count"].optional
    made = schema.to_type()
    sample = made(np.zeros((2, 2), np.int16), "a", None, ["b"])
    assert headrace.unpack(made, headrace.pack(sample), validate=True) == sample
