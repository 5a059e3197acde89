"""Imports run one way, and `import headrace` brings in NumPy and the native module alone."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "headrace"

# Which rooms a room may import from; "" is headrace/__init__.py itself, and a room may always import from itself.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "draws": {"errors"},
    "samplers": {"errors", "_native"},
    "sources": {"errors", "_native"},
    "images": {"errors", "_native", "draws"},
    "samples": {"errors", "_native", "images"},
    "lens": {"errors", "_native", "images", "samples"},
    "shards": {"errors", "_native", "draws", "samplers", "sources", "images", "samples", "lens"},
    "loader": {"errors", "_native", "draws", "samplers", "sources", "images", "samples", "lens", "shards"},
}
ALLOWED[""] = {*ALLOWED, "_native"}
ALLOWED["testing"] = ALLOWED["cli"] = {*ALLOWED, "_native"}

EXTRAS = [
    "torch",
    "jax",
    "sklearn",
    "scipy",
    "PIL",
    "matplotlib",
    "redis",
    "psycopg",
    "ray",
    "typer",
    "rich",
    "pandas",
    "psutil",
]


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> tuple[str, ...]:
    """The dotted name of a module's package-relative path, without "headrace"."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and room of every import of headrace in a file, also those inside functions and `TYPE_CHECKING`."""
    package = ("headrace", *(name_of(path) if path.name == "__init__.py" else name_of(path)[:-1]))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            targets = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            # `from headrace import errors` names the room after the `import`.
            targets = [(*base, alias.name) for alias in node.names] if base == ("headrace",) else [base]
        else:
            continue
        for target in targets:
            if target[0] == "headrace":
                room = target[1] if len(target) > 1 else ""
                yield node.lineno, room if room in ALLOWED or room == "_native" else ""


def test_every_room_is_in_the_table() -> None:
    rooms = {(name_of(path) or ("",))[0] for path in modules()}
    assert rooms <= set(ALLOWED), f"say in ALLOWED what these may import: {sorted(rooms - set(ALLOWED))}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path: Path) -> None:
    room = (name_of(path) or ("",))[0]
    wrong = [
        f"{path.name}:{line} imports {target or 'headrace'!r}"
        for line, target in imported(path)
        if target not in ALLOWED[room] | {room}
    ]
    assert not wrong, f"{room or 'headrace'!r} may import only {sorted(ALLOWED[room])}: {wrong}"


def names_after(statements: str) -> set[str]:
    """Top-level names of what a fresh interpreter has loaded after `statements`."""
    code = f"import json, sys\n{statements}\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    return set(json.loads(result.stdout))


def test_the_package_imports_no_extra() -> None:
    loaded = names_after("import headrace")
    assert not loaded & set(EXTRAS)


def test_the_package_needs_numpy_and_the_native_module_alone() -> None:
    brought = names_after("import headrace") - names_after("import numpy, numpy.random") - set(sys.stdlib_module_names)
    assert brought == {"headrace"}


def test_the_package_starts_no_thread() -> None:
    code = "import threading, headrace; print(threading.active_count())"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert result.stdout.strip() == "1"
