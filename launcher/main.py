"""Dispatch of ``./millrace COMMAND`` to the module in launcher/commands.py."""

from __future__ import annotations

import importlib
import os
import signal
import sys

from launcher import archive, java
from launcher.commands import CLI, COMMANDS
from launcher.console import Problem, echo


def main(arguments: list[str]) -> int:
    """Run one command. A problem is printed to standard error as a sentence; exit code 1."""
    command = COMMANDS.get(arguments[0])
    if command is None:
        echo(f"millrace: unknown command {arguments[0]!r}. Commands: {', '.join(COMMANDS)}.")
        return 2
    try:
        if command.java:
            os.environ.update(java.environment())
            if command.name != "up":
                # `up` decides for each of its services.
                os.environ.update(archive.with_options(archive.spark().use()))
        if not command.is_light:
            from launcher import node, trust

            os.environ.update(node.environment() | trust.environment())
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
        module = CLI if command.remote and _names_server(arguments) else command.module
        code: int = importlib.import_module(module).main(arguments)
        return code
    except Problem as problem:
        echo(f"millrace: {problem}")
        return 1
    except KeyboardInterrupt:
        echo("millrace: interrupted")
        return 130
    except BrokenPipeError:
        # The reader of the output (head, less) has exited.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def _names_server(arguments: list[str]) -> bool:
    """Return whether a command is for the API of a server instead of this installation."""
    given = any(each == "--server" or each.startswith("--server=") for each in arguments)
    return given or bool(os.environ.get("MILLRACE_SERVER"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
