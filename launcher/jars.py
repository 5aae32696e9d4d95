"""Jars of the lock file, downloaded with pyspark's Ivy and verified by their sha256.

`runtime/jars.lock` lists the jars of every group by coordinates and sha256, without addresses. Jars
are stored in <cache>/jars/<group>/. MILLRACE_JARS names a folder that already contains them (for a
machine without network), MILLRACE_JAR_MIRROR the root of another Maven repository.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from launcher import java, places, trust
from launcher.console import Problem, echo, megabytes

LOCK = places.RUNTIME / "jars.lock"
#: modules of the AWS SDK that Hadoop's S3 client uses, instead of the bundle with all services,
#: which has 600 MB
_SDK = (
    "annotations apache-client arns auth aws-core aws-query-protocol aws-xml-protocol "
    "checksums checksums-spi crt-core endpoints-spi http-auth http-auth-aws "
    "http-auth-aws-eventstream http-auth-spi http-client-spi identity-spi json-utils "
    "metrics-spi netty-nio-client profiles protocol-core regions retries retries-spi s3 "
    "s3-transfer-manager sdk-core sts third-party-jackson-core utils utils-lite"
)
#: releases of Kafka Streams that `verify --kafka` can run beside the newest, which is `oracle`
RELEASES = {
    "4.3": "4.3.1", "4.2": "4.2.1", "4.1": "4.1.2", "4.0": "4.0.2",
    "3.9": "3.9.2", "3.8": "3.8.1", "3.7": "3.7.2", "3.6": "3.6.2",
}  # fmt: skip
#: roots from which the lock is generated, by group; the flag includes their dependencies
ROOTS: dict[str, tuple[tuple[str, ...], bool]] = {
    # The second root is the broker's logging.
    "broker": (
        ("org.apache.kafka:kafka_2.13:4.4.0", "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"),
        True,
    ),
    # The newest published versions; their own metadata requires versions that are not published.
    "connector": (
        (
            "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
            "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
            "org.apache.kafka:kafka-clients:3.9.2",
            "org.apache.commons:commons-pool2:2.13.1",
        ),
        False,
    ),
    "s3": (
        (
            "org.apache.hadoop:hadoop-aws:3.5.0",
            "org.reactivestreams:reactive-streams:1.0.4",
            *(f"software.amazon.awssdk:{name}:2.35.4" for name in _SDK.split()),
            "software.amazon.eventstream:eventstream:1.0.1",
            "software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.1",
        ),
        False,
    ),
    "oracle": (("org.apache.kafka:kafka-streams-test-utils:4.4.0",), True),
    **{
        f"oracle-{release}": ((f"org.apache.kafka:kafka-streams-test-utils:{version}",), True)
        for release, version in RELEASES.items()
    },
    # The same version must be set in .scalafmt.conf.
    "scalafmt": (("org.scalameta:scalafmt-cli_2.13:3.7.17",), True),
}
HEADER = """\
# Jars by group: coordinates and sha256. Written by `./millrace jars --write`; no addresses.
# broker: the embedded Kafka. connector: Spark's Kafka source and sink.
# oracle: Kafka Streams itself, for `verify`; oracle-4.3 …: older releases, for `verify --kafka`.
# s3: checkpoints in S3. scalafmt: the formatter of the Scala code.
"""


@dataclass(frozen=True)
class Jar:
    """One jar of the lock."""

    group: str
    organisation: str
    artifact: str
    version: str
    sha256: str

    @property
    def file(self) -> str:
        """Its file name in the folder of its group."""
        return f"{self.artifact}-{self.version}.jar"

    @property
    def coordinates(self) -> str:
        """organisation:artifact:version, as in Maven."""
        return f"{self.organisation}:{self.artifact}:{self.version}"


def folder(group: str) -> Path:
    """Return the folder with the jars of a group."""
    given = os.environ.get("MILLRACE_JARS")
    if given:
        # MILLRACE_JARS is one folder for all groups, or has a folder for each.
        nested = Path(given) / group
        return nested if nested.is_dir() else Path(given)
    return places.cache() / "jars" / group


def read_lock(path: Path = LOCK) -> list[Jar]:
    """Return the jars of the lock file. Raises Problem with a line that is invalid."""
    found = []
    group = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        heading = re.fullmatch(r"\[([\w.-]+)\]", text)
        entry = re.fullmatch(r"([\w.-]+):([\w.-]+):([\w.-]+) ([0-9a-f]{64})", text)
        if heading:
            group = heading.group(1)
        elif entry and group:
            found.append(Jar(group, *entry.groups()))
        else:
            raise Problem(
                f"{path}, line {number}: found {text!r}; a line is `[group]` or "
                "`organisation:artifact:version sha256`. Restore the file from the repository."
            )
    return found


def ensure(*groups: str, lock: Path = LOCK) -> dict[str, list[Path]]:
    """Return the jars of these groups, after downloading those that are missing or corrupt.

    All jars are verified. Raises Problem if a jar cannot be downloaded or differs from the lock.
    """
    wanted = {group: [jar for jar in read_lock(lock) if jar.group == group] for group in groups}
    for group, jars in wanted.items():
        if not jars:
            raise Problem(f"{lock} has no group {group!r}; it has {', '.join(ROOTS)}.")
        with _one_at_a_time(group):
            _complete(group, jars)
    return {group: [folder(group) / jar.file for jar in jars] for group, jars in wanted.items()}


def _complete(group: str, jars: list[Jar]) -> None:
    place = folder(group)
    missing = []
    for jar in jars:
        path = place / jar.file
        if not path.exists():
            missing.append(jar)
        elif sha256(path) != jar.sha256:
            echo(
                f"jars: {path} is corrupt (its sha256 differs from the lock file); downloading "
                "it again"
            )
            missing.append(jar)
    if not missing:
        return
    if os.environ.get("MILLRACE_JARS"):
        raise Problem(
            f"MILLRACE_JARS is {place}, which has no valid copy of "
            f"{', '.join(jar.file for jar in missing)}. Add the files, or unset MILLRACE_JARS to "
            "download them."
        )
    missing = [jar for jar in missing if not _linked_from_another_group(jar, place)]
    if missing:
        fetch(missing, place)


def _linked_from_another_group(jar: Jar, place: Path) -> bool:
    """Link a jar from another group: broker and oracle share most of their jars."""
    for group in ROOTS:
        path = folder(group) / jar.file
        if group != jar.group and path.exists() and sha256(path) == jar.sha256:
            aside = place / f".{jar.file}.{os.getpid()}"
            try:
                os.link(path, aside)
            except OSError:
                shutil.copyfile(path, aside)
            aside.replace(place / jar.file)
            return True
    return False


def fetch(jars: list[Jar], place: Path) -> None:
    """Download jars to a temporary folder, verify all, and only then move them into place."""
    echo(f"jars: downloading {len(jars)} for {jars[0].group}")
    with tempfile.TemporaryDirectory(dir=place, prefix=".fetch-") as scratch:
        got = Path(scratch) / "jars"
        output = _ivy(
            ((jar.organisation, jar.artifact, jar.version) for jar in jars),
            Path(scratch),
            closure=False,
            total=len(jars),
        )
        for jar in jars:
            path = got / jar.file
            if not path.exists():
                raise Problem(
                    f"The jar {jar.coordinates} could not be downloaded: {_why(output)}. Check the "
                    "network, set MILLRACE_JAR_MIRROR to the root of another Maven repository, "
                    "or MILLRACE_JARS to a folder that contains the jars."
                )
            found = sha256(path)
            if found != jar.sha256:
                raise Problem(
                    f"The jar {jar.coordinates} has sha256 {found}, but the lock file has "
                    f"{jar.sha256}. The download is corrupt or is not the published file, and was "
                    "deleted. Try again, or use another network or mirror (MILLRACE_JAR_MIRROR)."
                )
        size = 0
        for jar in jars:
            size += (got / jar.file).stat().st_size
            (got / jar.file).replace(place / jar.file)
    echo(f"jars: {len(jars)} for {jars[0].group} are in place ({megabytes(size)})")


def write_lock() -> None:
    """Resolve every group from its roots, and write the coordinates and sha256 of its jars."""
    lines = [HEADER]
    for group, (roots, closure) in ROOTS.items():
        with tempfile.TemporaryDirectory(prefix="millrace-jars-") as scratch:
            coordinates = [tuple(root.split(":")) for root in roots]
            output = _ivy(
                ((g, a, v) for g, a, v in coordinates), Path(scratch), closure=closure, total=None
            )
            found = sorted((Path(scratch) / "jars").glob("*/*.jar"))
            if len(found) < len(roots):
                raise Problem(f"The group {group} could not be resolved: {_why(output)}.")
            lines.append(f"[{group}]")
            for jar in found:
                artifact, version = _split(jar, output)
                lines.append(f"{jar.parent.name}:{artifact}:{version} {sha256(jar)}")
            lines.append("")
            echo(f"jars: {group}: {len(found)} resolved")
    LOCK.write_text("\n".join(lines), encoding="utf-8")


def sha256(path: Path) -> str:
    """The sha256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _split(jar: Path, output: str) -> tuple[str, str]:
    """Return artifact and version of a resolved jar, which a file name alone does not separate."""
    for artifact, version in re.findall(
        rf"found {re.escape(jar.parent.name)}#([\w.-]+);([\w.-]+) in", output
    ):
        if jar.name == f"{artifact}-{version}.jar":
            return artifact, version
    raise Problem(f"Ivy did not report where {jar.name} comes from.")


def _ivy(
    coordinates: Iterable[tuple[str, str, str]],
    scratch: Path,
    *,
    closure: bool,
    total: int | None,
) -> str:
    """Run Ivy for a list of modules and return its output."""
    root = os.environ.get("MILLRACE_JAR_MIRROR")
    settings = scratch / "settings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="repository"/><resolvers>'
        '<ibiblio name="repository" m2compatible="true" checksums="sha1"'
        f"{f' root={quoteattr(root)}' if root else ''}/></resolvers></ivysettings>",
        encoding="utf-8",
    )
    # master is the module's own jar, runtime its runtime dependencies.
    wanted = "master,runtime(*)" if closure else "master"
    modules = "".join(
        f"<dependency org={quoteattr(org)} name={quoteattr(name)} rev={quoteattr(rev)} "
        f'conf="default-&gt;{wanted}"/>'
        for org, name, rev in coordinates
    )
    module = scratch / "ivy.xml"
    module.write_text(
        '<ivy-module version="2.0"><info organisation="millrace" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{modules}</dependencies></ivy-module>",
        encoding="utf-8",
    )
    pattern = "[organisation]/" if total is None else ""
    command = [
        str(java.home() / "bin" / "java"), "-Xmx256m", "-XX:+UseSerialGC",
        *trust.java_options(), "-jar", str(_ivy_jar()),
        "-settings", str(settings), "-cache", str(scratch / "cache"), "-ivy", str(module),
        "-confs", "default", "-types", "jar", "bundle",
        "-retrieve", f"{scratch}/jars/{pattern}[artifact]-[revision].[ext]",
    ]  # fmt: skip
    lines = []
    fetched = 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            lines.append(line)
            done = re.search(r"\[SUCCESSFUL \] \S+!(\S+)\.\w+", line)
            if done and total:
                fetched += 1
                if fetched % 10 == 0 or fetched == total:
                    echo(f"jars: {fetched} of {total} downloaded")
    return "".join(lines)


def _ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    found = (
        sorted((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))
        if spec and spec.origin
        else []
    )
    if not found:
        raise Problem("pyspark's jars have no Ivy. Delete the folder .venv and try again.")
    return found[0]


def _why(output: str) -> str:
    """Return the line of Ivy's output that states the cause."""
    for pattern in (
        r"invalid sha1[^\n]*",
        r"(?:UnknownHost|Connect|SocketTimeout|NoRouteToHost|SSL\w*)Exception[^\n]*",
        r"No space left[^\n]*",
        r"(?:Host \S+ not found|Server access error)[^\n]*",
        r"UNRESOLVED DEPENDENCY[^\n]*|[\w.#;-]+: not found",
    ):
        found = re.search(pattern, output)
        if found:
            return " ".join(found.group(0).split())
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "no answer"


@contextmanager
def _one_at_a_time(group: str) -> Iterator[None]:
    """Lock a group, so that concurrent commands download it once. Ends with the process."""
    place = folder(group)
    if os.environ.get("MILLRACE_JARS"):
        yield
        return
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle = (place / ".lock").open("w", encoding="utf-8")
    except OSError as error:
        raise Problem(
            f"The folder {place} cannot be written ({error.strerror}). "
            "Set MILLRACE_CACHE to a folder that this user can write to."
        ) from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
