"""Install the servers of the tests into a cache folder, once for each version of their locks.

Run as a program it installs all of them and says what could not be had; the fixtures call it for what is missing.
Several processes may run it at once.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parents[2] / "requirements"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headrace-test-servers"


class Unavailable(Exception):
    """A server cannot be had on this machine; the message says why."""


def python_servers() -> Path:
    """The folder of the programs `moto_server` and `gcp-storage-emulator`."""
    lock = REQUIREMENTS / "servers.txt"
    interpreter = "-".join(map(str, sys.version_info[:2]))

    def install(folder: Path) -> None:
        venv.create(folder, with_pip=True)
        _run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--require-hashes", "-r", lock])

    # The programs name their interpreter by its path: the folder cannot be made elsewhere and renamed.
    return _once(f"python{interpreter}-{_digest(lock)}", install) / "bin"


def azurite() -> Path:
    """The program `azurite-blob`."""
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed")
    source = REQUIREMENTS / "azurite"

    def install(folder: Path) -> None:
        folder.mkdir(parents=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(source / name, folder / name)
        _run([npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder])

    folder = _once(f"azurite-{_digest(source / 'package-lock.json')}", install)
    return folder / "node_modules" / ".bin" / "azurite-blob"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _run(command: list[object]) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        raise Unavailable(f"{Path(str(command[0])).name} failed: {(done.stderr or done.stdout).strip()[-400:]}")


def _once(name: str, install: Callable[[Path], None]) -> Path:
    """The cache folder of that name, filled by `install` unless that was done before."""
    folder, done = CACHE / name, CACHE / f"{name}.done"
    if not done.exists():
        with _alone(name):
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                install(folder)
                done.touch()
    return folder


@contextmanager
def _alone(name: str):
    try:
        CACHE.mkdir(parents=True, exist_ok=True)
        lock = (CACHE / f"{name}.lock").open("w")
    except OSError as error:
        raise Unavailable(f"no cache folder: {error}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> None:
    for server in (python_servers, azurite):
        try:
            server()
        except Unavailable as error:
            print(f"{server.__name__}: {error}; the tests that need it are skipped", file=sys.stderr)


if __name__ == "__main__":
    main()
