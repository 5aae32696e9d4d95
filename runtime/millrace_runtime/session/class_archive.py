"""Archives of loaded classes (class data sharing), which cut the start of a Java to a third.

When the first run of a program ends, it writes the classes that it has loaded and verified; later
runs map that file. If a Java rejects the archive, it continues without it.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from millrace_runtime.jars import cache_dir, connector_jars, java, operator_jar, spark_jars

#: archives of other jars that stay when one is made
KEPT = 4
#: seconds after which an incomplete archive is one whose Java was killed
WRITING_SECONDS = 60.0
#: a rejected archive is not worth a log line
QUIET = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
#: An archive is mapped at the address for which it was written: some Javas move it to a random one,
#: which takes a tenth of a second. For a Java that does not process data of others.
IN_PLACE = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")


class Archive:
    """The archive of one program, which depends on the Java and on the jars that it runs.

    `home`: of the Java (default: JAVA_HOME).
    """

    def __init__(self, name: str, jars: Iterable[Path], home: Path | None = None) -> None:
        digest = hashlib.sha256()
        home = home or Path(os.environ.get("JAVA_HOME", ""))
        self._home = home
        for path in (home / "release", home / "bin" / "java"):
            with suppress(OSError):
                digest.update(f"{path.resolve()} {path.stat().st_mtime_ns}\n".encode())
        for jar in jars:
            with suppress(OSError):
                found = jar.stat()
                # Java rejects an archive if the size or the time of a jar has changed.
                digest.update(f"{jar} {found.st_size} {found.st_mtime_ns}\n".encode())
        self.path = cache_dir() / f"{name}-{digest.hexdigest()[:16]}.jsa"
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
                elif time.time() - self._fresh.stat().st_mtime > WRITING_SECONDS:
                    self._fresh.unlink()
        return self.path.exists()

    def use(self) -> list[str]:
        """Return options that make a Java use the archive, if there is one."""
        return [f"-XX:SharedArchiveFile={self.path}", *QUIET] if self.ready() else []

    def use_or_make(self) -> list[str]:
        """Return the options of `use`, or without an archive, options to write one at exit."""
        if self.ready() or not self._can_be_made():
            return self.use()
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._forget_old()
        return [f"-XX:ArchiveClassesAtExit={self._fresh}", *QUIET]

    def _forget_old(self) -> None:
        """Delete all but the newest archives of other jars; a JVM that uses one keeps its file."""
        name = self.path.stem.rpartition("-")[0]
        # An archive has the suffix of a new one until the same jars run again.
        others = [*self.path.parent.glob(f"{name}-*.jsa"), *self.path.parent.glob(f"{name}-*.new")]
        for old in sorted(others, key=lambda each: each.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)

    def _can_be_made(self) -> bool:
        """Return whether this Java includes the archive of its own classes, which ours extends."""
        # The home of a shim (`java_home.shim`) links to the release file of its Java.
        homes = {self._home.resolve(), (self._home / "release").resolve().parent}
        return any(any(home.glob("lib/*/classes.jsa")) for home in homes)


def of_tests() -> Archive:
    """Return the archive of sessions that run tests of programs."""
    home = Path(java()).resolve().parents[1]
    jars = [*connector_jars(), operator_jar(), *sorted(spark_jars().glob("*.jar"))]
    return Archive("tests", jars, home)
