"""The session of simulations: small, and quick for micro-batches of a few rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from millrace_runtime.session import session
from millrace_runtime.session.early import EarlySession

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "millrace-simulation"

# A micro-batch of a simulation has a handful of rows: interpreted expressions and the first
# compiler tier cost less than the code that would be generated for them.
SETTINGS = {
    "spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.minBatchesToRetain": "2",
}


def simulation_session(
    master: str = "local[1]",
    *,
    small: bool = False,
    storage: str = "",
    java_extra: Sequence[str] = (),
    jvm: EarlySession | None = None,
) -> SparkSession:
    """Return a warm session for any number of consecutive simulations.

    `small`: with half of the memory, at whose limit the JVM exits, and 1 GB of address space for
    Python workers. `storage`: see `session.create`; with one, Hadoop's settings are kept.
    `java_extra`: further options of the JVM. `jvm`: that of `early`, which is used if it lives.
    """
    made = None if jvm is None else jvm.join()
    if made is None:
        made = session.create(
            NAME, master=master, settings=_settings(small), java_extra=_java(small, java_extra),
            storage=storage,
        )  # fmt: skip
    if not storage:
        forget_hadoop(made)
    return made


def early(java_extra: Sequence[str] = (), *, small: bool = False) -> EarlySession:
    """Start the JVM of such a session, which its `join` returns. See `early.possible`.

    A `small` one ends with the process's group.
    """
    conf = session.settings_of(NAME, "local[1]", _settings(small), _java(small, java_extra), "")
    return EarlySession(conf, apart=not small)


def forget_hadoop(made: SparkSession) -> None:
    """Remove Hadoop's settings from a session whose data is in local files.

    With every micro-batch, each stateful operator sends all of Hadoop's thousand defaults to its
    tasks. Code that reads a missing setting uses the same default.
    """
    made.sparkContext._jsc.hadoopConfiguration().clear()


def _settings(small: bool) -> dict[str, str]:
    memory = {"spark.driver.memory": "512m", "spark.executor.pyspark.memory": "1g"} if small else {}
    return {**SETTINGS, **memory}


def _java(small: bool, extra: Sequence[str]) -> tuple[str, ...]:
    bounds = ("-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError") if small else ()
    return ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m", *bounds, *extra)
