"""``./millrace golden [NAME]``: write the golden files, for review."""

from __future__ import annotations

import subprocess
import sys

from checks.steps import environment
from launcher import commands, places
from launcher.console import echo

# folders that the golden tests write to
WRITTEN = ("tests/golden", "compiler/millrace_compiler/catalog/examples", "docs/operators")


def main(arguments: list[str]) -> int:
    """Run the golden tests in write mode, in which they write the files instead of comparing."""
    parser = commands.parser("golden")
    parser.add_argument("name", nargs="?", help="only goldens whose name matches")
    options = parser.parse_args(arguments[1:])
    name = [options.name] if options.name else []
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests", "-p", "no:cacheprovider",
         "-p", "no:randomly", "-k", " and ".join(["golden", *name])],
        cwd=places.REPOSITORY,
        env={**environment(), "MILLRACE_WRITE_GOLDENS": "1"},
        check=False,
    )  # fmt: skip
    subprocess.run(
        ["git", "--no-pager", "diff", "--stat", "--", *WRITTEN],
        cwd=places.REPOSITORY,
        check=False,
    )
    echo("golden: review the difference (git diff) before you commit it")
    return done.returncode
