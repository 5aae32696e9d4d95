"""Archives of loaded classes (class data sharing), which cut the start of a Java to a third.

When the first run of a program ends, it writes the classes that it has loaded and verified; later
runs map that file. If a Java rejects the archive, it continues without it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from launcher import places

#: a rejected archive is not worth a log line
QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
#: maximum seconds for writing an archive at the end of a first run
WRITING_SECONDS = 45.0


class Archive:
    """The archive of one program, which depends on the Java and on the jars that it runs."""

    def __init__(self, name: str, jars: Iterable[Path]) -> None:
        digest = hashlib.sha256()
        home = Path(os.environ.get("JAVA_HOME", ""))
        for path in (home / "release", home / "bin" / "java"):
            with suppress(OSError):
                digest.update(f"{path.resolve()} {path.stat().st_mtime_ns}\n".encode())
        for jar in jars:
            with suppress(OSError):
                found = jar.stat()
                # Java rejects an archive if the size or the time of a jar has changed.
                digest.update(f"{jar} {found.st_size} {found.st_mtime_ns}\n".encode())
        self.path = places.cache() / f"{name}-{digest.hexdigest()[:16]}.jsa"
        self._fresh = self.path.with_suffix(".new")

    def ready(self) -> bool:
        """Return whether there is a complete archive."""
        with suppress(OSError):
            if self._fresh.exists():
                # The header is written last: an archive that a kill left incomplete begins with
                # zeros.
                with self._fresh.open("rb") as stream:
                    whole = any(stream.read(4))
                if whole:
                    self._fresh.replace(self.path)
                else:
                    self._fresh.unlink()
        return self.path.exists()

    def use(self) -> list[str]:
        """Return options that make a Java use the archive, if there is one."""
        return [f"-XX:SharedArchiveFile={self.path}", *QUIET] if self.ready() else []

    def use_or_make(self) -> list[str]:
        """Return the options of `use`, or without an archive, options to write one at exit."""
        if self.ready() or not _can_be_made():
            return self.use()
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        return [f"-XX:ArchiveClassesAtExit={self._fresh}", *QUIET]


def spark() -> Archive:
    """The archive of Spark's drivers and of the analyzer."""
    spec = importlib.util.find_spec("pyspark")
    folder = Path(spec.origin).parent / "jars" if spec and spec.origin else Path()
    connector = Path(os.environ.get("MILLRACE_JARS") or places.cache() / "jars" / "connector")
    return Archive("spark", [*sorted(connector.glob("*.jar")), *sorted(folder.glob("*.jar"))])


def with_options(options: list[str]) -> dict[str, str]:
    """Return an environment in which Spark's launcher passes these options to its Java."""
    if not options:
        return {}
    given = os.environ.get("SPARK_SUBMIT_OPTS", "")
    return {"SPARK_SUBMIT_OPTS": " ".join([*([given] if given else []), *options])}


def _can_be_made() -> bool:
    """Return whether this Java includes the archive of its own classes, which ours extends."""
    home = Path(os.environ.get("JAVA_HOME", ""))
    return any(home.resolve().glob("lib/*/classes.jsa"))
