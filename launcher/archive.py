"""Archives of loaded classes, with which a Java starts in a third of the time.

The first run of a program writes, as it ends, which classes it had loaded and verified (class data
sharing); later runs map that file. A Java that finds the archive unfit goes on without it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from launcher import places

#: an archive that does not fit is no news
QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
#: seconds that writing an archive may take at the end of a first run
WRITING_SECONDS = 45.0


class Archive:
    """The archive of one program: a Java and the jars that it runs."""

    def __init__(self, name: str, jars: Iterable[Path]) -> None:
        digest = hashlib.sha256()
        home = Path(os.environ.get("JAVA_HOME", ""))
        for path in (home / "release", home / "bin" / "java"):
            with suppress(OSError):
                digest.update(f"{path.resolve()} {path.stat().st_mtime_ns}\n".encode())
        for jar in jars:
            with suppress(OSError):
                found = jar.stat()
                # A Java refuses an archive of jars whose size or time is another.
                digest.update(f"{jar} {found.st_size} {found.st_mtime_ns}\n".encode())
        self.path = places.cache() / f"{name}-{digest.hexdigest()[:16]}.jsa"
        self._fresh = self.path.with_suffix(".new")

    def ready(self) -> bool:
        """Whether there is an archive to start from."""
        with suppress(OSError):
            if self._fresh.exists():
                # Its head is written last: what a kill left half done begins with zeros.
                with self._fresh.open("rb") as stream:
                    whole = any(stream.read(4))
                if whole:
                    self._fresh.replace(self.path)
                else:
                    self._fresh.unlink()
        return self.path.exists()

    def use(self) -> list[str]:
        """Options of a Java that starts from the archive, if there is one."""
        return [f"-XX:SharedArchiveFile={self.path}", *QUIET] if self.ready() else []

    def use_or_make(self) -> list[str]:
        """The same; without an archive, options to write it at the end of this run."""
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
    """An environment in which Spark's launcher hands these options to its Java."""
    if not options:
        return {}
    given = os.environ.get("SPARK_SUBMIT_OPTS", "")
    return {"SPARK_SUBMIT_OPTS": " ".join([*([given] if given else []), *options])}


def _can_be_made() -> bool:
    """It stands on the archive of Java's own classes, which not every Java comes with."""
    home = Path(os.environ.get("JAVA_HOME", ""))
    return any(home.resolve().glob("lib/*/classes.jsa"))
