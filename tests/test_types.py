"""What mypy infers for a loader's batches."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from typing import Any
import numpy as np
from headrace import AsyncDataset, DataLoader, HttpDataset

def stack(samples: list[Any]) -> np.ndarray[Any, Any]:
    return np.stack(samples)

reveal_type(DataLoader([1, 2, 3], 2, shuffle=True, seed=1))
reveal_type(DataLoader([1, 2, 3], 2, num_workers=2, collate_fn=stack))
for batch in DataLoader([1.0], 2):
    reveal_type(batch)

class Numbers(AsyncDataset[int]):
    def __len__(self) -> int:
        return 3
    async def __getitem__(self, index: int) -> int:
        return index

reveal_type(DataLoader(Numbers(), 2))
reveal_type(DataLoader(HttpDataset([]), 2))
"""


def test_batches_are_inferred_with_and_without_a_collate_fn(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(program)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    found = [line.split('"')[1] for line in run.stdout.splitlines() if "Revealed type" in line]
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(found) == 5
    assert found[0].endswith("DataLoader[list[int]]") or found[0].endswith("DataLoader[builtins.list[builtins.int]]")
    assert "DataLoader[" in found[1] and "ndarray" in found[1]
    assert found[2] in ("list[float]", "builtins.list[builtins.float]")
    assert found[3].endswith(("DataLoader[list[int]]", "DataLoader[builtins.list[builtins.int]]"))
    assert found[4].endswith(("DataLoader[list[bytes]]", "DataLoader[builtins.list[builtins.bytes]]"))
