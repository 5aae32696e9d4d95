"""The Spark session of tests, shared by all tests of a run.

Importing this module imports neither PySpark nor the compiler: the session's JVM starts first.
"""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from typing import TYPE_CHECKING

from millrace_runtime.errors import MillraceError
from millrace_runtime.session import class_archive, early, simulation

if TYPE_CHECKING:
    from millrace_compiler import Analyzer
    from pyspark.sql import SparkSession

_early: early.EarlySession | None = None
_made: SparkSession | None = None
_analyzers: weakref.WeakKeyDictionary[SparkSession, Analyzer] = weakref.WeakKeyDictionary()


def begin() -> None:
    """Start the session's JVM in the background, unless this process has one or will join one."""
    global _early  # noqa: PLW0603 - a process has one session of tests
    started = sys.modules.get("pyspark") is not None and _context() is not None
    if _early is None and _made is None and not started and early.possible(os.environ):
        _early = simulation.early(class_archive.of_tests().use_or_make())
        atexit.register(_end)


def session() -> SparkSession:
    """Return the session of this process's tests, which is created by the first call.

    Raises MillraceError `session_foreign` if the process already has another Spark session.
    """
    global _early, _made  # noqa: PLW0603
    begin()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        if _made is None or active.sparkContext is not _made.sparkContext:
            _end()  # this process started a session in another way meanwhile
            _made = _adopted(active)
        return _made
    if _context() is not None:
        _end()
    started, _early = _early, None
    _made = simulation.simulation_session(jvm=started)
    _be_quiet(_made)
    return _made


def _be_quiet(spark: SparkSession) -> None:
    """Turn off the operator's log of what nodes print: the test driver prints it."""
    from millrace_runtime import columns

    level = columns.java_class(spark.sparkContext._gateway, "org.apache.logging.log4j.Level").OFF
    configurator = "org.apache.logging.log4j.core.config.Configurator"
    columns.java_class(spark.sparkContext._gateway, configurator).setLevel("millrace", level)


def _adopted(active: SparkSession) -> SparkSession:
    """Return a session that this process has started itself, with the settings of tests."""
    conf = active.sparkContext.getConf()
    jars = (conf.get("spark.jars", ""), conf.get("spark.driver.extraClassPath", ""))
    if not any("millrace-operator" in (each or "") for each in jars):
        raise MillraceError(
            "session_foreign",
            "This process already has a Spark session without Millrace's operator. Create it with "
            "millrace_runtime.spark_session, or stop it before the first test of a topology.",
        )
    return simulation.simulation_session()


def _context() -> object:
    from pyspark import SparkContext

    return SparkContext._gateway


def _end() -> None:
    """End the JVM of a session that no test has needed."""
    global _early
    unused, _early = _early, None
    if unused is not None:
        unused.close()


def analyzer_of(spark: SparkSession) -> Analyzer:
    """Return the analyzer of a session, which keeps what it found for earlier topologies."""
    from millrace_runtime.analyzer.compiling import session_analyzer

    found = _analyzers.get(spark)
    if found is None:
        found = _analyzers[spark] = session_analyzer(spark)
    return found
