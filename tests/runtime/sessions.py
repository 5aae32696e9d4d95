"""Spark sessions with settings of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def new_session(name: str, **options: Any) -> SparkSession:
    """Return a session with exactly these options; see `session.create`.

    A process has only one. Tests of another file may have left theirs open, whose static settings
    would be kept.
    """
    from millrace_runtime.session import session
    from pyspark.sql import SparkSession

    open_session = SparkSession.getActiveSession()
    if open_session is not None:
        open_session.stop()
    return session.create(name, **options)
