"""A warm JVM with Kafka Streams, which runs scenarios and returns the library's results."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.inference.registries import DEFAULT, Schemas, Unasked, read_formats
from millrace_compiler.types.types import DataType
from millrace_model.documents import DocumentNode, TopologyDocument
from millrace_model.scenarios import Expected, Scenario
from millrace_runtime.errors import MillraceError
from millrace_runtime.jars import cache_dir, java, spark_jars
from millrace_runtime.job.python_options import python_options
from millrace_runtime.session.class_archive import Archive
from millrace_runtime.session.java_home import OPENED
from millrace_runtime.session.session import NO_EXTERNAL_XML, local_dir

from launcher import jars

HERE = Path(__file__).resolve().parents[1] / "oracle"
#: releases that can be run, the newest first, by the group of their jars
RELEASES = {"4.4": "oracle", **{release: f"oracle-{release}" for release in jars.RELEASES}}
NEWEST = next(iter(RELEASES))
#: maximum seconds for the end of a JVM, which may write an archive
ENDING_SECONDS = 45.0


class _Answer(Expected, total=False):
    """The results, or why there are none."""

    oracle_error: str


class Oracle:
    """A running oracle; `with Oracle() as oracle: oracle.run(scenario)`.

    `release`: one of RELEASES. `remember`: a folder that caches answers, a file for each scenario.
    `python`: run the code in Python that documents have, as their processors do, and ask the schema
    registries that they name; not for documents of other people. `wait`: until the JVM has started;
    otherwise, the first run waits for it. `archive`: at the end, write an archive of classes if
    there is none, which takes some seconds and makes later starts faster.
    """

    def __init__(
        self,
        release: str = NEWEST,
        *,
        remember: Path | None = None,
        python: bool = False,
        wait: bool = True,
        archive: bool = False,
    ) -> None:
        self.release = release
        self._own = python
        self._remember = remember
        if remember is not None:
            remember.mkdir(parents=True, exist_ok=True)
        self._scratch = tempfile.TemporaryDirectory(prefix="millrace-oracle-")
        # In memory: the stores of a scenario are opened and closed with it, and RocksDB syncs files
        # then. The native library needs a folder from which code may run, and stays in the other.
        self._stores = tempfile.TemporaryDirectory(prefix="millrace-oracle-", dir=local_dir())
        self._process = subprocess.Popen(
            command(
                "serve",
                scratch=self._scratch.name,
                stores=self._stores.name,
                quick_start=True,
                release=release,
                python=python,
                archive=archive,
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self._started = False
        if wait:
            self._wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, scenario: Scenario) -> Expected:
        """Return `outputs`, `dropped`, `stores` and `error` in the form of a scenario's `expected`.

        Raises MillraceError with the code `oracle_cannot` for what the library's test driver cannot
        run.
        """
        topology = _readable(scenario["topology"], ask_registries=self._own)
        question = json.dumps({**scenario, "topology": topology})
        known = self._remembered(question)
        if known is not None and known.exists():
            answer: _Answer = json.loads(known.read_text(encoding="utf-8"))
        else:
            answer = json.loads(self._asked(question))
            if known is not None:
                known.write_text(json.dumps(answer), encoding="utf-8")
        if "oracle_error" in answer:
            reason = str(answer["oracle_error"])
            message = f"Kafka Streams' test driver cannot run this topology: {reason}."
            raise MillraceError("oracle_cannot", message, facts={"reason": reason})
        return answer

    @property
    def alive(self) -> bool:
        """Whether the JVM runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """Stop the JVM."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._scratch.cleanup()
        self._stores.cleanup()

    def _remembered(self, question: str) -> Path | None:
        if self._remember is None:
            return None
        digest = hashlib.sha256(_version(self.release).encode() + question.encode())
        return self._remember / f"{digest.hexdigest()[:24]}.json"

    def _wait(self) -> None:
        if not self._started and self._read() != "READY":
            raise MillraceError("oracle_failed", "The oracle's JVM did not start.")
        self._started = True

    def _asked(self, question: str) -> str:
        self._wait()
        assert self._process.stdin is not None
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise MillraceError("oracle_failed", "The oracle's JVM ended unexpectedly.")
        return line.rstrip("\n")


@dataclass
class Kept:
    """The oracle that a resident process keeps. `resident`: whether this is one."""

    resident: bool = False
    oracle: Oracle | None = None

    def start(self) -> Oracle:
        """Return the oracle, whose JVM starts in the background if there is none."""
        if self.oracle is None or not self.oracle.alive:
            self.oracle = Oracle(python=True, wait=False, archive=True)
        return self.oracle


kept = Kept()


@contextlib.contextmanager
def own_oracle() -> Iterator[Oracle]:
    """Yield an oracle for a document of the caller's own: that of a resident process, or a new one.

    It runs the code in Python that the document has. Its JVM starts in the background.
    """
    if kept.resident:
        yield kept.start()
        return
    with Oracle(python=True, wait=False) as oracle:
        yield oracle


def _readable(topology: TopologyDocument, *, ask_registries: bool) -> TopologyDocument:
    """Replace formats that the oracle cannot read by JSON with the type of their schema.

    Records and results are lines of JSON in both cases.
    """
    schemas: Schemas = DEFAULT if ask_registries else Unasked()
    nodes: list[DocumentNode] = []
    for node in topology["nodes"]:
        params = dict(node.get("params") or {})
        for place in ("key", "value"):
            type_ = _type_of_schema(params.get(place), schemas)
            if type_ is not None:
                params[place] = {"format": "json", "schema": type_.schema}
        nodes.append({**node, "params": params})
    return {**topology, "nodes": nodes}


def _type_of_schema(written: object, schemas: Schemas) -> DataType | None:
    """Return the type of a format's schema, its own or a registry's; None for other formats."""
    if not isinstance(written, dict) or written.get("format") not in ("avro", "protobuf"):
        return None
    return read_formats({"format": written}, schemas, Diagnostics())["format"].type


def command(
    *words: str,
    scratch: str,
    stores: str | None = None,
    quick_start: bool = False,
    release: str = NEWEST,
    python: bool = False,
    archive: bool = False,
) -> list[str]:
    """The command line of the oracle. `quick_start`: for short runs, not for benchmarks.

    `stores`: the folder for the stores of scenarios, else one in `scratch`. `python` and `archive`:
    see Oracle.
    """
    path = _class_path(release)
    jar = _jar(path, release)
    quick = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"] if quick_start else []
    if quick_start and release == NEWEST:
        found = _archive(jar)
        quick += found.use_or_make() if archive else found.use()
    options = python_options()
    coded = [
        f"-Doracle.python={options['python']}", f"-Doracle.python.path={options['python_path']}",
    ]  # fmt: skip
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
    return [
        java(), "-Xmx1g", *quick,
        *opened, *NO_EXTERNAL_XML,
        "-Djdk.reflect.useDirectMethodHandle=false", f"-Djava.io.tmpdir={scratch}",
        f"-Doracle.stores={stores or scratch}", *(coded if python else []),
        f"-Dlog4j2.configurationFile={HERE / 'log4j2.properties'}",
        "-cp", f"{jar}{os.pathsep}{path}", "oracle.Main", *words,
    ]  # fmt: skip


def _archive(jar: Path) -> Archive:
    """Return the archive of the classes of the newest release, Spark's and the oracle's own."""
    group = RELEASES[NEWEST]
    used = [jar, *jars.ensure(group)[group], *sorted(spark_jars().glob("*.jar"))]
    return Archive("oracle", used, Path(java()).resolve().parents[1])


def _class_path(release: str) -> str:
    """Return Kafka's jars before Spark's, of which logging and JSON are taken."""
    group = RELEASES[release]
    kept = [
        str(jar)
        for jar in jars.ensure(group)[group]
        if not jar.name.startswith(("slf4j-", "scala-library", "jackson-"))
    ]
    return os.pathsep.join([*kept, f"{spark_jars()}/*"])


def _jar(path: str, release: str) -> Path:
    """Return the oracle compiled for a release, compiling it if its sources have changed."""
    target = cache_dir() / f"millrace-oracle-{_version(release)}.jar"
    with (cache_dir() / "oracle.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            _compile(_sources(release), path, target)
    return target


def _sources(release: str) -> list[Path]:
    answers = "kafka4.2" if tuple(map(int, release.split("."))) >= (4, 2) else "before4.2"
    folders = (".", f"kafka{release[0]}", answers)
    return sorted(file for folder in folders for file in HERE.glob(f"{folder}/*.scala"))


@functools.cache
def _version(release: str) -> str:
    """Return a version of the oracle that changes with its sources and jars, for cached answers."""
    digest = hashlib.sha256("".join(jars.ROOTS[RELEASES[release]][0]).encode())
    for source in _sources(release):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _compile(sources: list[Path], path: str, target: Path) -> None:
    partial = target.with_name(f"{target.stem}.{os.getpid()}.partial.jar")
    done = subprocess.run(
        [
            java(), "-Xss8m", "-Xmx1g", "-XX:+UseSerialGC", "-cp", path,
            "scala.tools.nsc.Main", "-usejavacp", "-nowarn", "-d", str(partial),
            *map(str, sources),
        ],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        partial.unlink(missing_ok=True)
        reason = f"{done.stdout}{done.stderr}"
        message = f"The oracle did not compile:\n{reason}"
        raise MillraceError("oracle_not_compiled", message, facts={"reason": reason})
    partial.replace(target)
