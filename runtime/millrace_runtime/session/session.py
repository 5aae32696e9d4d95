"""The Spark session of a job, a simulation or the analyzer: one place for every setting."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING

from millrace_runtime.jars import (
    cache_dir,
    connector_jars,
    java,
    operator_jar,
    storage_jars,
)
from millrace_runtime.keywords import checked
from millrace_runtime.services import confinement
from millrace_runtime.session import java_home, joining
from millrace_runtime.session.numpy_values import convert_if_imported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Writes checkpoint files into a local folder without starting a chmod process for each.
LOCAL_CHECKPOINTS = "org.apache.spark.sql.millrace.LocalCheckpoints"

# Settings that affect results. They cannot be overridden.
SEMANTICS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # No substitution: ${env:HOME} in an expression would read the machine's environment.
    "spark.sql.variable.substitute": "false",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Only records and control rows advance the time of a task; empty batches would be useless.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    # Task i must stay on shuffle partition i.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}

# The state format of deployments, which micro-batches and real-time mode can both continue.
CHECKPOINTS = {"spark.sql.streaming.stateStore.checkpointFormatVersion": "2"}

_STORES = "org.apache.spark.sql.execution.streaming.state."
# Spark's own defaults, for programs of the plain dialect.
PLAIN = {
    "spark.sql.streaming.stateStore.providerClass": f"{_STORES}HDFSBackedStateStoreProvider",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "1",
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
}

# Settings of Spark's real-time mode. Its allowlist lacks the operator's sink and tasks without a
# shuffle; the plan has no node that waits for the end of its input (RealTime.scala).
REAL_TIME = {
    "spark.sql.streaming.realTimeMode.allowlistCheck": "false",
    # Records would be lost if progress were saved before the sink has written them.
    "spark.sql.streaming.realTimeMode.asyncProgressTrackingByDefault.enabled": "false",
}

#: a folder for temporary files, which the parent process deletes after this one has ended
SCRATCH = "MILLRACE_SCRATCH"

COMMON = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.sql.streaming.pollingDelay": "2ms",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Stores count their rows themselves; Spark would read the old row before each write.
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.debug.maxToStringFields": "100",
    # Spark describes the plan of each micro-batch for its pages; this form is the cheapest.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.retainedTasks": "10",
    "spark.cleaner.referenceTracking.blocking": "false",
    "spark.log.structuredLogging.enabled": "false",
}


#: the largest heap that one thread collects
SMALL_HEAP_KB = 2 << 20
#: JVM options with which no XML parser reads files or addresses that a document names
NO_EXTERNAL_XML = tuple(
    f"-Djavax.xml.accessExternal{kind}=" for kind in ("DTD", "Schema", "Stylesheet")
)


def java_options(*extra: str) -> str:
    """Return the JVM options of a driver, followed by `extra`."""
    return " ".join(
        (
            *NO_EXTERNAL_XML,
            f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}",
            "-Duser.timezone=UTC",
            # Without it, half of the CPU time of a start is spent on compiling code that runs a few
            # hundred times only. Code that runs for each record still gets compiled soon.
            "-XX:CompileThresholdScaling=4",
            *(f"-Djava.io.tmpdir={each}" for each in [os.environ.get(SCRATCH)] if each),
            *extra,
        )
    )


def collector(heap: str, options: Iterable[str]) -> tuple[str, ...]:
    """Return the option with which one thread collects a small heap, up to 2 GB.

    For Java's default collector, several threads work beside the job, and its notes about the heap
    take memory. `options`: other JVM options, which may name a collector.
    """
    size = re.fullmatch(r"(\d+)([kmg])b?", heap.strip().lower())
    small = size is not None and int(size[1]) << 10 * "kmg".index(size[2]) <= SMALL_HEAP_KB
    named = any(re.search(r"-XX:[+]Use\w*GC", each) for each in options)
    return ("-XX:+UseSerialGC",) if small and not named else ()


def java_for_spark() -> str:
    """Return the Java home with which Spark runs without warnings, adding it to the cache.

    Confined processes cannot write to the cache: who starts them calls this first.
    """
    return str(java_home.shim(Path(java()).resolve().parents[1], cache_dir()))


def _submitted_to() -> str | None:
    """Return the master passed to `spark-submit`, or None if it did not start this process."""
    from pyspark import SparkConf, SparkContext

    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        return None
    SparkContext._ensure_initialized()
    return SparkConf().get("spark.master")


def local_dir() -> str:
    """Return a folder for Spark's shuffle files: /dev/shm if writable, else a temporary folder.

    Of a confined process, it is the only folder that it may write to.
    """
    if confined := os.environ.get(confinement.FOLDER):
        return confined
    shm = Path("/dev/shm")  # noqa: S108 - memory as a folder; folders in it are made by mkdtemp
    base = shm if shm.is_dir() and os.access(shm, os.W_OK) else Path(tempfile.gettempdir())
    return str(base)


def end(session: SparkSession, *, in_full: bool = False) -> None:
    """End a session whose queries have been stopped; nothing of it writes after this returns.

    `in_full`: a query may still run. In the JVM of a host, the keeper ends it after this process.

    To save time, the JVM is killed if the parent process deletes its temporary files and it has
    neither executors of a cluster nor an event log.
    """
    if joining.shares(os.environ):
        return
    context = session.sparkContext
    java = getattr(context._gateway, "proc", None)
    conf = context.getConf()
    known = (
        not str(context.master).startswith("local[")
        or conf.get("spark.eventLog.enabled", "false") != "false"
        or conf.get("spark.local.dir") is not None
        or "SPARK_LOCAL_DIRS" in os.environ
    )
    if in_full or java is None or known or SCRATCH not in os.environ:
        session.stop()
        return
    java.kill()
    java.wait()


def java_ends(seconds: float) -> bool:
    """Return whether the JVM that this process has started ends within some seconds."""
    from pyspark import SparkContext

    java = getattr(SparkContext._gateway, "proc", None)
    if java is None:
        return False
    try:
        java.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _not_of_py4j(record: logging.LogRecord) -> bool:
    return record.module != "java_gateway"


def quiet() -> None:
    """Leave out log lines of py4j and PySpark that say nothing to users."""
    from pyspark.logger import PySparkLogger

    # py4j logs every closed connection, even after the log itself was closed.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    # It also logs a stack trace, to the root logger, for Ctrl-C during a call into Java.
    logging.getLogger().addFilter(_not_of_py4j)
    # PySpark logs one for every error of an expression, although it also raises the error.
    for logger in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(logger).setLevel(logging.CRITICAL)


def for_spark(environment: MutableMapping[str, str]) -> None:
    """Set the variables of a process that starts Spark."""
    environment.setdefault("PYSPARK_PYTHON", sys.executable)
    environment.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    environment.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # Options of Spark's launcher, a short-lived JVM that only assembles a command line.
    environment.setdefault("SPARK_LAUNCHER_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    environment["JAVA_HOME"] = java_for_spark()


def settings_of(
    name: str,
    master: str | None,
    settings: Mapping[str, str] | None,
    java_extra: tuple[str, ...],
    storage: str,
) -> dict[str, str]:
    """Return all settings of a session; see `create`."""
    chosen = master or _submitted_to() or os.environ.get("SPARK_MASTER") or "local[*]"
    connector = [str(jar) for jar in (*connector_jars(), *storage_jars(storage))]
    conf = {**COMMON, **(settings or {})}
    # Classes on the class path of the driver's JVM, as Spark's own are, can be loaded from a class
    # data archive. Executors in other processes get the jars through `spark.jars`.
    given = conf.get("spark.driver.extraClassPath")
    conf["spark.driver.extraClassPath"] = os.pathsep.join([*connector, *([given] if given else [])])
    jars = [str(operator_jar()), *([] if chosen.startswith("local[") else connector)]
    given = conf.get("spark.executor.extraJavaOptions")
    conf["spark.executor.extraJavaOptions"] = " ".join(
        [*NO_EXTERNAL_XML, *([given] if given else [])]
    )
    conf.update({key: SEMANTICS[key] for key in SEMANTICS if key != "spark.sql.shuffle.partitions"})
    conf.setdefault("spark.sql.shuffle.partitions", "1")
    if chosen.startswith("local"):
        conf.setdefault("spark.driver.host", "127.0.0.1")
        conf.setdefault("spark.driver.bindAddress", "127.0.0.1")
        # Spark deserializes what its port receives; with this, only from those with its secret.
        conf.setdefault("spark.authenticate", "true")
    extra = (*collector(conf["spark.driver.memory"], java_extra), *java_extra)
    return {
        "spark.app.name": name,
        "spark.master": chosen,
        "spark.jars": ",".join(jars),
        "spark.driver.extraJavaOptions": java_options(*extra),
        **conf,
    }


def create(
    name: str,
    *,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    java_extra: tuple[str, ...] = (),
    storage: str = "",
) -> SparkSession:
    """Create a classic Spark session with the operator and the Kafka connector.

    `master`: a Spark master URL (default: that of `spark-submit` if it started this process, else
    SPARK_MASTER, else local[*]); a host has its own. `settings` override the defaults, except those
    that affect results. `storage`: a location that is read or written, if it is not a local folder.
    """
    from pyspark.sql import SparkSession

    from millrace_runtime import columns

    quiet()
    convert_if_imported()
    if joining.shares(os.environ):
        session = joining.join(settings or {})
        columns.remember_classes(session.sparkContext._gateway)
        columns.answer_at_once(session.sparkContext._gateway)
        return session
    for_spark(os.environ)
    builder = SparkSession.builder
    conf = settings_of(name, master, settings, java_extra, storage)
    for key, value in conf.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    prepare(session)
    return session


def prepare(session: SparkSession) -> None:
    """Prepare a session that this process does not share: see `Frugal`."""
    from millrace_runtime import columns

    session.sparkContext.setLogLevel("ERROR")
    columns.remember_classes(session.sparkContext._gateway)
    columns.answer_at_once(session.sparkContext._gateway)
    columns.gateway(session.sparkContext).Frugal.prepare(session._jsparkSession)


#: The public name, for programs that call `Topology.start`.
spark_session = checked(create, "spark_session")
