"""The session of simulations: small, and quick for micro-batches of a few rows."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from millrace_runtime.session import session

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
) -> SparkSession:
    """Return a warm session for any number of consecutive simulations.

    `small`: with half of the memory, at whose limit the JVM exits, and 1 GB of address space for
    Python workers. `storage`: see `session.create`; with one, Hadoop's settings are kept.
    `java_extra`: further options of the JVM.
    """
    memory = {"spark.driver.memory": "512m", "spark.executor.pyspark.memory": "1g"} if small else {}
    bounds = ("-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError") if small else ()
    compiler = ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m")
    made = session.create(
        "millrace-simulation", master=master, settings={**SETTINGS, **memory},
        java_extra=(*compiler, *bounds, *java_extra), storage=storage,
    )  # fmt: skip
    # With every micro-batch, each stateful operator sends all of Hadoop's thousand defaults to its
    # tasks. Code that reads a missing setting uses the same default.
    if not storage:
        made.sparkContext._jsc.hadoopConfiguration().clear()
    return made
