"""Everything the workers take from their environment, read in one place."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from millrace_compiler.connections import kafka_clients

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Configuration:
    """Addresses, folders and limits of a worker."""

    data: Path
    redis_url: str
    bootstrap_servers: str
    #: settings of the workers' own Kafka clients, under librdkafka's names
    kafka_clients: dict[str, str]
    analyzer: str
    runtime: Path
    spark_master: str
    #: size in bytes above which a driver's log is rotated; one older part is kept
    driver_log_bytes: int
    #: heap in MB of a JVM that deployments share
    host_memory_mb: int
    #: number of a deployment's staged versions to keep besides those in use
    jobs_kept: int
    #: seconds without a report after which a driver is degraded
    silent_seconds: float
    #: seconds after which a degraded driver is restarted
    degraded_seconds: float
    #: JAR of the compiled stateful operator; without it, a job compiles it at its first start
    operator_jar: Path | None

    @classmethod
    def from_environment(cls) -> Configuration:
        """Read the environment; the defaults are those of the embedded system.

        Raises KeyError for a missing variable that has no default, ValueError for a malformed
        number or unusable settings of Kafka clients.
        """
        jar = os.environ.get("MILLRACE_OPERATOR_JAR")
        return cls(
            data=Path(os.environ.get("MILLRACE_DATA", REPOSITORY / ".millrace")),
            redis_url=os.environ["REDIS_URL"],
            bootstrap_servers=os.environ["KAFKA_BOOTSTRAP_SERVERS"],
            kafka_clients=kafka_clients.for_librdkafka(kafka_clients.settings(os.environ)),
            analyzer=os.environ["MILLRACE_ANALYZER"],
            runtime=Path(os.environ.get("MILLRACE_RUNTIME", REPOSITORY / "runtime")),
            spark_master=os.environ.get("SPARK_MASTER", ""),
            driver_log_bytes=int(os.environ.get("MILLRACE_DRIVER_LOG_MB", "20")) * 1_000_000,
            host_memory_mb=int(os.environ.get("MILLRACE_HOST_MEMORY_MB", "1024")),
            jobs_kept=int(os.environ.get("MILLRACE_JOBS_KEPT", "5")),
            silent_seconds=float(os.environ.get("MILLRACE_SILENT_SECONDS", "15")),
            degraded_seconds=float(os.environ.get("MILLRACE_DEGRADED_SECONDS", "30")),
            operator_jar=Path(jar) if jar else None,
        )
