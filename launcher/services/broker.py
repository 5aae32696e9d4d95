"""The embedded Kafka: one broker and controller in one JVM, reachable only from this machine."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import uuid
from pathlib import Path
from typing import Any

from launcher import archive, jars
from launcher.console import Problem
from launcher.ports import HOST
from launcher.services import System
from launcher.supervisor import Running, Service

PROPERTIES = """\
process.roles=broker,controller
node.id=1
listeners=CLIENTS://{host}:{port},CONTROLLER://{host}:{controller}
advertised.listeners=CLIENTS://{host}:{port}
listener.security.protocol.map=CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=CLIENTS
controller.listener.names=CONTROLLER
controller.quorum.voters=1@{host}:{controller}
log.dirs={folder}

# Topics are created explicitly, with their number of partitions.
auto.create.topics.enable=false
num.partitions=4

# A single broker on a small machine: no replicas, no rebalance delay, small buffers.
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=8388608
log.segment.bytes=134217728
# Retention follows the timestamps of records: replayed or test records with old timestamps would be
# deleted within minutes. Data on a user's own machine is kept until the user deletes it.
log.retention.ms=-1
num.network.threads=2
num.io.threads=4
background.threads=2
num.recovery.threads.per.data.dir=1
metadata.log.max.snapshot.interval.ms=3600000
# The controller's record that it is alive, twice a second by default, and the broker's heartbeat:
# there is no other controller that could miss them.
metadata.max.idle.interval.ms=30000
broker.heartbeat.interval.ms=4000
broker.session.timeout.ms=18000
"""
LOGGING = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %-5p %c{1}: %m%n%throwable{0}
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
# One line for each phase of the broker; otherwise only warnings and errors.
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = info
"""


def service(system: System) -> Service:
    """The broker, formatted at its first start."""
    folder = system.data / "kafka"
    properties = configure(folder, system.ports["broker"], system.ports["controller"])
    kept = classes()
    known = kept.ready()
    return Service(
        name="broker",
        command=[*_java(folder, 384, kept.use_or_make()), "kafka.Kafka", str(properties)],
        ready=_answers,
        deadline=120,
        # A clean stop writes what is in memory; without it the next start reads the logs again.
        grace=20 if known else 20 + archive.WRITING_SECONDS,
        environment={"MILLRACE_BROKER": f"{HOST}:{system.ports['broker']}"},
        hint=f"Its data is in {folder}.",
    )


def configure(folder: Path, port: int, controller: int) -> Path:
    """Write the broker's files and format its folder if it is new; returns server.properties."""
    logs = folder / "data"
    logs.mkdir(parents=True, exist_ok=True)
    properties = folder / "server.properties"
    properties.write_text(
        PROPERTIES.format(host=HOST, port=port, controller=controller, folder=logs),
        encoding="utf-8",
    )
    (folder / "log4j2.properties").write_text(LOGGING, encoding="utf-8")
    if not (logs / "meta.properties").exists():
        _format(properties)
    return properties


def java_command(folder: Path, properties: Path, *more: str) -> list[str]:
    """The command line of the broker whose files `configure` wrote into the folder.

    `more` are further options of Java.
    """
    return [*_java(folder, 384, [*classes().use(), *more]), "kafka.Kafka", str(properties)]


def classes() -> archive.Archive:
    """Return the archive of classes for a fast start of the broker."""
    return archive.Archive("broker", jars.ensure("broker")["broker"])


def _format(properties: Path) -> None:
    identity = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
    done = subprocess.run(
        [*_java(properties.parent, 128, []), "kafka.tools.StorageTool", "format",
         "--cluster-id", identity, "--config", str(properties)],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise Problem(
            f"The broker's folder {properties.parent} could not be formatted: "
            f"{lines[-1] if lines else 'no reason given'}. Delete it to begin with an empty broker."
        )


def _java(folder: Path, heap_mb: int, more: list[str]) -> list[str]:
    classpath = os.pathsep.join(str(path) for path in jars.ensure("broker")["broker"])
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    return [
        str(java), f"-Xmx{heap_mb}m", "-Xms64m", "-XX:+UseSerialGC", "-Xshare:auto",
        "-XX:+ExitOnOutOfMemoryError", "-Djava.awt.headless=true",
        f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}", *more, "-cp", classpath,
    ]  # fmt: skip


async def _answers(running: Running) -> bool:
    return await asyncio.to_thread(metadata_known, running.service.environment["MILLRACE_BROKER"])


def print_nothing(_error: object) -> None:
    """Ignore an error of the client."""


def metadata_known(address: str) -> bool:
    """Return whether the broker responds to a metadata request."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    settings: dict[str, Any] = {
        "bootstrap.servers": address,
        "log_level": 0,
        "socket.connection.setup.timeout.ms": 1000,
        # Errors are expected until it listens.
        "error_cb": print_nothing,
    }
    client = AdminClient(settings)
    try:
        return len(client.list_topics(timeout=1.0).brokers) > 0
    except KafkaException:
        return False
