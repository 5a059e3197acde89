"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Writes a file beside `path` by `write(file)`, then puts it in `path`'s place in one step.

    Whatever interrupts it, `path` is what it was before, or the new file complete.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # mkstemp's own mode lets nobody else read
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
