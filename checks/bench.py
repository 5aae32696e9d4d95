"""``./millrace bench``: run benchmarks of bench/, each in a process, one after the other."""

from __future__ import annotations

import subprocess
import sys

from checks.steps import environment
from launcher import commands, jars, places
from launcher.console import Problem, echo
from launcher.up import build_operator

FOLDER = places.REPOSITORY / "bench"


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, or all; options after `--` are passed to them."""
    own, _, passed_on = _split(arguments[1:])
    parser = commands.parser("bench")
    known = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
    parser.add_argument("names", nargs="*", help=f"of: {', '.join(known)}")
    options = parser.parse_args(own)
    unknown = sorted(set(options.names) - set(known))
    if unknown:
        raise Problem(f"There is no benchmark {unknown[0]!r}. There are: {', '.join(known)}.")
    jars.ensure("broker", "connector", "oracle")
    build_operator()
    worst = 0
    for name in options.names or known:
        echo(f"bench: {name}")
        done = subprocess.run(
            [sys.executable, str(FOLDER / f"{name}.py"), *passed_on],
            cwd=places.REPOSITORY,
            env=environment(),
            check=False,
        )
        worst = max(worst, abs(done.returncode))
    return min(worst, 1)


def _split(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    if "--" not in arguments:
        return arguments, "", []
    at = arguments.index("--")
    return arguments[:at], "--", arguments[at + 1 :]
