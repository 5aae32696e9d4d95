"""``./millrace check`` and ``fmt``: format, lint, types, import directions, fast tests."""

from __future__ import annotations

import sys
import time

from checks.steps import Step, run_all
from launcher import commands, node, places
from launcher.console import echo

BIN = places.VENV / "bin"
#: tests that need no Spark, broker, Redis or browser
FAST = "not spark and not kafka and not services and not browser and not slow"


def main(arguments: list[str]) -> int:
    """Run ``fmt`` or ``check``, whichever ``arguments`` names."""
    commands.parser(arguments[0]).parse_args(arguments[1:])
    return fmt() if arguments[0] == "fmt" else check()


def fmt() -> int:
    """Format everything and apply the fixes of the linters."""
    node.ensure_packages()
    steps = [
        Step("ruff check --fix", [str(BIN / "ruff"), "check", "--fix-only", "--quiet", "."]),
        Step("ruff format", [str(BIN / "ruff"), "format", "--quiet", "."]),
        Step("biome", ["npm", "run", "--silent", "format", "--workspace", "frontend"]),
        Step("scalafmt", [sys.executable, "-m", "checks.scala"]),
        Step("json files", [sys.executable, "-m", "checks.json_files"]),
    ]
    return 0 if run_all(steps, at_once=1) else 1


def check() -> int:
    """Run all checks that need no service; takes less than a minute."""
    began = time.monotonic()
    node.ensure_packages()
    steps = [
        # Two steps run at a time, so the longest come first.
        Step("mypy", [str(BIN / "mypy")]),
        Step("unit tests", unit_tests(), "Run it alone: ./millrace test PATH"),
        Step("vitest", ["npm", "test", "--silent", "--workspace", "frontend"]),
        Step("tsc", ["npm", "run", "--silent", "types", "--workspace", "frontend"]),
        Step(
            "biome", ["npm", "run", "--silent", "lint", "--workspace", "frontend"], "./millrace fmt"
        ),
        Step("scalafmt", [sys.executable, "-m", "checks.scala", "--check"], "./millrace fmt"),
        Step(
            "json files", [sys.executable, "-m", "checks.json_files", "--check"], "./millrace fmt"
        ),
        Step("import-linter", [str(BIN / "lint-imports"), "--no-cache"]),
        Step("ruff check", [str(BIN / "ruff"), "check", "."], "./millrace fmt fixes most of them"),
        Step("ruff format", [str(BIN / "ruff"), "format", "--check", "."], "./millrace fmt"),
        Step(
            "openapi.json",
            [sys.executable, "backend/manage.py", "millrace_api", "--check"],
            "./millrace api",
        ),
    ]
    good = run_all(steps, at_once=2)
    echo(
        f"check: {'all good' if good else 'something is wrong'} ({time.monotonic() - began:.0f} s)"
    )
    return 0 if good else 1


def unit_tests() -> list[str]:
    """The command line of the fast tests."""
    return [sys.executable, "-m", "pytest", "-q", "-m", FAST, "-p", "no:cacheprovider", "tests"]
