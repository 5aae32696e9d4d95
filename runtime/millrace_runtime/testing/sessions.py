"""The Spark session of tests, shared by all tests of a run."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

from millrace_runtime.analyzer.compiling import session_analyzer
from millrace_runtime.errors import MillraceError
from millrace_runtime.session import class_archive
from millrace_runtime.session.simulation import simulation_session

if TYPE_CHECKING:
    from millrace_compiler import Analyzer
    from pyspark.sql import SparkSession

_analyzers: weakref.WeakKeyDictionary[SparkSession, Analyzer] = weakref.WeakKeyDictionary()


def session() -> SparkSession:
    """Return the session of this process's tests, which is created by the first call.

    Raises MillraceError `session_foreign` if the process already has another Spark session.
    """
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    jars = "" if active is None else active.sparkContext.getConf().get("spark.jars", "")
    if active is not None and "millrace-operator" not in (jars or ""):
        raise MillraceError(
            "session_foreign",
            "This process already has a Spark session without Millrace's operator. Create it with "
            "millrace_runtime.spark_session, or stop it before the first test of a topology.",
        )
    given = os.environ.get("SPARK_SUBMIT_OPTS", "")
    # The first run writes an archive of classes, with which later ones start much faster.
    archived = () if "SharedArchiveFile" in given else class_archive.of_tests().use_or_make()
    return simulation_session(java_extra=archived)


def analyzer_of(spark: SparkSession) -> Analyzer:
    """Return the analyzer of a session, which keeps what it found for earlier topologies."""
    found = _analyzers.get(spark)
    if found is None:
        found = _analyzers[spark] = session_analyzer(spark)
    return found
