"""Dispatch of ``./millrace COMMAND``: one line for each command, one module behind it."""

from __future__ import annotations

import importlib
import os
import signal
import sys

from launcher import archive, java, node, trust
from launcher.console import Problem, say

#: command -> module with `main(arguments) -> exit code`
COMMANDS = {
    "up": "launcher.up",
    "down": "launcher.control",
    "status": "launcher.control",
    "logs": "launcher.control",
    "test": "checks.test",
    "e2e": "checks.test",
    "check": "checks.check",
    "fmt": "checks.check",
    "golden": "checks.golden",
    "api": "checks.api",
    "bench": "checks.bench",
    "new-operator": "checks.new_operator",
    "jars": "launcher.jars_command",
    "wheel": "launcher.wheel",
}
#: commands of the contract; they live with the runtime's own command line
CONTRACT = (
    "compile",
    "describe",
    "document",
    "simulate",
    "conformance",
    "run",
    "compare-state",
    "state",
    "test-topology",
    "verify",
)
#: commands that start no Java
WITHOUT_JAVA = {"down", "status", "logs", "new-operator"}


def main(arguments: list[str]) -> int:
    """Run one command; every problem is a sentence on standard error and exit code 1."""
    command = arguments[0]
    if command not in COMMANDS and command not in CONTRACT:
        known = ", ".join([*COMMANDS, *CONTRACT])
        say(f"millrace: there is no command {command!r}. Commands: {known}.")
        return 2
    try:
        if command not in WITHOUT_JAVA:
            os.environ.update(java.environment())
            if command != "up":
                # `up` decides for each of its services.
                os.environ.update(archive.with_options(archive.spark().use()))
        os.environ.update(node.environment() | trust.environment())
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
        if command in CONTRACT:
            cli = importlib.import_module("cli")
            code: int = cli.main(arguments)
        else:
            code = importlib.import_module(COMMANDS[command]).main(arguments)
        return code
    except Problem as problem:
        say(f"millrace: {problem}")
        return 1
    except KeyboardInterrupt:
        say("millrace: interrupted")
        return 130
    except BrokenPipeError:
        # The reader (head, less) has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
