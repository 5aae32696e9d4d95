"""``python -m checks.scala [--check]``: run scalafmt on the Scala sources, with .scalafmt.conf.

Starting scalafmt takes some ten seconds of CPU time. Digests of formatted files are stored in the
cache folder, so that only edited files are checked.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from launcher import jars, java, places
from launcher.console import Problem

CONFIGURATION = places.REPOSITORY / ".scalafmt.conf"
FOLDERS = (places.RUNTIME / "scala", places.REPOSITORY / "oracle")


def main(arguments: list[str]) -> int:
    """Format the sources; with ``--check`` list those that are not formatted and return 1."""
    formatted = set(known().read_text(encoding="utf-8").split()) if known().exists() else set()
    sources = [path for folder in FOLDERS for path in sorted(folder.rglob("*.scala"))]
    changed = [path for path in sources if _digest(path) not in formatted]
    if not changed:
        return 0
    mode = "--list" if "--check" in arguments else "--quiet"
    done = subprocess.run(
        [
            str(java.home() / "bin" / "java"), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
            "-cp", os.pathsep.join(map(str, jars.ensure("scalafmt")["scalafmt"])),
            "org.scalafmt.cli.Cli", "--non-interactive", "--config", str(CONFIGURATION), mode,
            *map(str, changed),
        ],
        check=False,
    )  # fmt: skip
    if done.returncode == 0:
        known().write_text("\n".join(_digest(path) for path in sources), encoding="utf-8")
    return done.returncode


def known() -> Path:
    """The file of the digests of formatted sources."""
    return places.cache() / "scalafmt.txt"


def _digest(path: Path) -> str:
    return hashlib.sha256(CONFIGURATION.read_bytes() + path.read_bytes()).hexdigest()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Problem as problem:
        sys.exit(str(problem))
