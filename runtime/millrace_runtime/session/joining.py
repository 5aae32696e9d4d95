"""The driver's part of a host: it uses the keeper's JVM instead of starting one."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from millrace_services.local_services import Connection

from millrace_runtime.errors import MillraceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: the keeper's socket, in the environment of a driver that joins a host
SOCKET = "MILLRACE_HOST_SOCKET"
#: seconds to wait for the start of the keeper's JVM
START_SECONDS = 120.0
LOOK_SECONDS = 0.05
#: seconds in which the keeper gives the reason for the end of its JVM
REASON_SECONDS = 4.0
#: the connection over which this process has joined; closing it ends the queries
_joined: Connection | None = None
_watching: threading.Thread | None = None


def shares(environment: Mapping[str, str]) -> bool:
    """Whether this process uses the JVM of a host."""
    return SOCKET in environment


def join(settings: Mapping[str, str]) -> SparkSession:
    """Return a session in the keeper's JVM. `settings`: differing from those of the host.

    Raises MillraceError `host_lost`, or `option_invalid` for a setting that all sessions share.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    global _joined  # noqa: PLW0603 - a process joins one host, for as long as it lives
    run = os.environ["MILLRACE_HOST_RUN"]
    _joined = _connected(os.environ[SOCKET])
    try:
        answer = _joined.ask({"do": "join", "run": run, "home": os.environ["MILLRACE_HOST_HOME"]})
    except (OSError, ValueError):
        raise _left("host_lost") from None
    os.environ["PYSPARK_GATEWAY_PORT"] = str(answer["port"])
    os.environ["PYSPARK_GATEWAY_SECRET"] = answer["gateway_secret"]
    try:
        gateway = launch_gateway()  # type: ignore[no-untyped-call]
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    shared = gateway.jvm.org.apache.spark.sql.millrace.Host.session(run)
    java = gateway.jvm.JavaSparkContext(shared.sparkContext())
    context = SparkContext(
        gateway=gateway, jsc=java, conf=SparkConf(_jconf=shared.sparkContext().getConf())
    )
    session = SparkSession(context, jsparkSession=shared)
    for name, value in settings.items():
        if session.conf.get(name, None) == value:
            continue
        if not name.startswith("spark.sql."):
            raise MillraceError(
                "option_invalid",
                f"{name} cannot be set for a deployment that shares a JVM with others.",
            )
        session.conf.set(name, value)
    return session


def watch(leave: Callable[[MillraceError], None]) -> None:
    """Call `leave`, which must end the process, when the JVM ends or this run has to leave it."""
    joined = _joined
    if joined is None:
        return

    def look() -> None:
        try:
            line = joined.line()
            code = json.loads(line)["leave"] if line else "host_lost"
        except (OSError, ValueError):
            code = "host_lost"
        leave(_left(code))

    global _watching  # noqa: PLW0603 - as the connection
    _watching = threading.Thread(target=look, name="host", daemon=True)
    _watching.start()


def wait_for_reason() -> None:
    """Wait until `watch` ends this process, if its JVM is a host's and has ended; else return.

    The keeper notices the end of the JVM at the same time and knows the reason.
    """
    if _watching is not None:
        _watching.join(REASON_SECONDS)


def _left(code: str) -> MillraceError:
    """Return the reason for which a driver leaves a host."""
    if code == "host_full":
        return MillraceError(
            "host_full",
            "The heap of the JVM that the deployment shares with others was full. It starts again "
            "in a JVM of its own.",
        )
    return MillraceError("host_lost", "The JVM that the deployment shares with others has ended.")


def _connected(socket: str) -> Connection:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            # The timeout is that of each response: a driver waits for its session without limit.
            return Connection(socket, START_SECONDS)
        except OSError:
            if time.monotonic() > deadline:
                raise _left("host_lost") from None
            time.sleep(LOOK_SECONDS)
