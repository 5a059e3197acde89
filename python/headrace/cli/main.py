"""The entry point: reads the command line, runs one command, turns failures into one line and an exit code."""

import argparse
import sys
from collections.abc import Sequence

from headrace.cli.demo import command as demo

INTERRUPTED = 130  # 128 + SIGINT, as shells count


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `headrace` with `argv` (the process's own arguments when None).

    Returns:
        0 when all went well, 1 for a failure, 2 for wrong usage or a missing package, 130 after Ctrl-C.

    Raises:
        SystemExit: with 2 for arguments that do not parse, with 0 after `--help`.
    """
    parser = argparse.ArgumentParser(prog="headrace", description="Feeds training: typed shards and a threaded loader.")
    parser.add_argument("--debug", action="store_true", help="show the traceback of a failure")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    demo.add_parser(commands)
    arguments = parser.parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except KeyboardInterrupt:
        print("headrace: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if arguments.debug:
            raise
        words = " ".join(str(error).split())
        print(f"headrace: {type(error).__name__}: {words} (--debug shows where)", file=sys.stderr)
        return 1
    return code
