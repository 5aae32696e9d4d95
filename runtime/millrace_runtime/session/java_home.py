"""A JAVA_HOME whose `java` runs with the options that Spark and Kafka need on every version."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
from pathlib import Path

#: Spark's launcher always requests this module, for linear algebra only. Java warns about it at
#: every start, and a Java without it does not start at all.
OPTIONAL_MODULE = "jdk.incubator.vector"
#: Spark opens this package, which Java 25 no longer has and warns about
REMOVED_PACKAGE = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
#: what Java 24 and newer warn about unless it is allowed: native libraries (compression, RocksDB)
#: and memory access by sun.misc.Unsafe (Spark's rows)
ALLOWED = ("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow")
#: packages that Spark accesses, as its own launcher opens them
OPENED = (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio",
    "java.util", "java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref",
    "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar",
)  # fmt: skip
SHIM = """\
#!/usr/bin/env bash
arguments=({added})
for argument in "$@"; do
  case "$argument" in
    {dropped}) ;;
    *) arguments+=("$argument") ;;
  esac
done
exec {java} "${{arguments[@]}}"
"""


def release(folder: Path) -> dict[str, str]:
    """Return the `release` file of a Java; empty without one or without a `java` beside it."""
    try:
        if not (folder / "bin" / "java").exists():
            return {}
        text = (folder / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return {
        name: value.strip('"')
        for name, _, value in (line.partition("=") for line in text.splitlines())
        if value
    }


def major(folder: Path) -> int | None:
    """Return the major version of the Java in a folder, or None if none works there."""
    version = release(folder).get("JAVA_VERSION")
    if version is None:
        try:
            shown = subprocess.run(
                [str(folder / "bin" / "java"), "-version"],
                capture_output=True,
                text=True,
                check=False,
                timeout=30,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        found = re.search(r'version "([^"]+)"', shown.stderr)
        if found is None:
            return None
        version = found.group(1)
    numbers = re.match(r"(?:1\.)?(\d+)", version)
    return int(numbers.group(1)) if numbers else None


def needs_shim(folder: Path, version: int) -> bool:
    """Return whether Spark or Kafka would fail or warn with this Java as it is."""
    modules = release(folder).get("MODULES")
    return version >= 24 or (modules is not None and OPTIONAL_MODULE not in modules.split())


def shim(real: Path, cache: Path) -> Path:
    """Return a Java home in `cache` whose `java` is that of `real` with the options adapted.

    Raises OSError if the cache cannot be written. A home that is a shim already is returned as is.
    """
    if real.parent == cache / "java":
        return real
    version = major(real) or 0
    text = SHIM.format(
        added=" ".join(ALLOWED if version >= 24 else ()),
        dropped="|".join(
            (f"--add-modules={OPTIONAL_MODULE}", *((REMOVED_PACKAGE,) if version >= 25 else ()))
        ),
        java=shlex.quote(str(real / "bin" / "java")),
    )
    home = cache / "java" / hashlib.sha256(text.encode()).hexdigest()[:12]
    script = home / "bin" / "java"
    if not script.exists():
        script.parent.mkdir(parents=True, exist_ok=True)
        partial = script.with_name(f"java.{os.getpid()}")
        partial.write_text(text, encoding="utf-8")
        partial.chmod(0o755)
        partial.replace(script)
    if (real / "release").exists() and not (home / "release").exists():
        (home / "release").symlink_to(real / "release")
    return home
