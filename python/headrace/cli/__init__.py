"""The command line: `headrace COMMAND`."""

from headrace.cli.main import main

__all__ = ["main"]
