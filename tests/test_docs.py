"""Every ```python block of the documentation runs; the blocks of one page share their names, in order."""

import inspect
import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image

from headrace import DataLoader

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script(page: Path) -> str:
    """The page's blocks, each at its own line number so that a traceback points into the page."""
    text = page.read_text(encoding="utf-8")
    out = ""
    for block in FENCE.finditer(text):
        line = text.count("\n", 0, block.start(1))
        out += "\n" * (line - out.count("\n")) + block.group(1)
    return out


def pages() -> list[Path]:
    found = [
        ROOT / "README.md",
        ROOT / "ARCHITECTURE.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    return [page for page in found if FENCE.search(page.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def tiles() -> Iterator[str]:
    """The server that the pages ask for tiles: `/tile` is a picture, whatever its query, and there is nothing else."""
    picture = io.BytesIO()
    Image.new("L", (16, 16), 7).save(picture, "PNG")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            found = self.path.split("?")[0] == "/tile"
            body = picture.getvalue() if found else b""
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page: Path, tmp_path: Path, tiles: str) -> None:
    # A script in a file of its own, guarded by nothing: the loaders of the documentation are made of threads.
    file = tmp_path / f"{page.stem}.py"
    file.write_text(script(page), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-W", "error", str(file)],
        cwd=tmp_path,
        env={**os.environ, "TILES_URL": tiles},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=100,
    )
    assert result.returncode == 0, f"a block of {page.relative_to(ROOT)} failed:\n{result.stdout}"


def test_the_readme_has_an_example() -> None:
    assert ROOT / "README.md" in pages()


def test_links_between_pages_lead_somewhere() -> None:
    dead = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                dead.append(f"{page.relative_to(ROOT)}: {target}")
    assert not dead


ROW = re.compile(r"^\| `(\w+)` \|.*\| (`tests/.*`) \|$", re.MULTILINE)


def test_the_list_of_arguments_is_complete() -> None:
    rows = dict(ROW.findall((ROOT / "docs" / "loader-arguments.md").read_text(encoding="utf-8")))
    assert sorted(rows) == sorted(set(inspect.signature(DataLoader.__init__).parameters) - {"self"})
    for argument, cell in rows.items():
        for path in re.findall(r"`([^`]+)`", cell):
            text = (ROOT / path).read_text(encoding="utf-8")
            # The dataset comes first and without its name.
            assert argument == "dataset" or re.search(rf"\b{argument}\b", text), f"{path}: no {argument}"
