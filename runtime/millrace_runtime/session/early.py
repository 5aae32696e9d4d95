"""A JVM that creates its session by itself, while Python still imports what a test needs.

PySpark starts a shell, which starts a JVM that assembles a command line, which starts the JVM in
which Python creates the session with hundreds of calls. Here the last one starts at once.
"""

from __future__ import annotations

import os
import shlex
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from millrace_runtime.jars import operator_jar, spark_jars
from millrace_runtime.services import confinement
from millrace_runtime.session import joining
from millrace_runtime.session.java_home import OPENED
from millrace_runtime.session.numpy_values import convert_if_imported
from millrace_runtime.session.session import for_spark, prepare, quiet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: variables with which somebody chooses how Spark starts; then it starts in PySpark's way
CHOSEN = (
    "PYSPARK_GATEWAY_PORT",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_CONF_DIR",
    "SPARK_HOME",
    "SPARK_MASTER",
    "SPARK_TESTING",
    confinement.FOLDER,
    joining.SOCKET,
)
LOOK_SECONDS = 0.005


def possible(environment: Mapping[str, str], *, confined: bool = False) -> bool:
    """Return whether a session may start early: nobody has chosen how Spark starts.

    `confined`: also in a confined process.
    """
    chosen = [name for name in CHOSEN if name in environment]
    return os.name == "posix" and chosen in ([], [confinement.FOLDER] if confined else [])


def _class_path(connector: str, operator: str) -> list[str]:
    """Return the class path that Spark's own start would use, followed by the operator.

    So an archive of classes of Spark's start can be used, and one of this start has the operator's.
    """
    spark = spark_jars()
    first = [str(each) for each in sorted(spark.glob("slf4j-api-*.jar"))]
    return [connector, str(spark.parent / "conf"), *first, f"{spark}/*", operator]


class EarlySession:
    """A JVM that starts with the settings of a local session, as `session.settings_of` returns.

    `apart`: Ctrl-C and a signal to this process's group do not reach it.
    """

    def __init__(self, settings: Mapping[str, str], *, apart: bool = True) -> None:
        for_spark(os.environ)
        connector, operator = settings["spark.driver.extraClassPath"], str(operator_jar())
        properties = {key: value for key, value in settings.items() if key != "spark.jars"}
        properties["spark.driver.extraClassPath"] = os.pathsep.join((connector, operator))
        self._folder = tempfile.TemporaryDirectory(prefix="millrace-early-")
        self._note = Path(self._folder.name) / "gateway"
        self._process = subprocess.Popen(
            [
                f"{os.environ['JAVA_HOME']}/bin/java",
                f"-Xmx{settings['spark.driver.memory']}",
                *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
                "-XX:+IgnoreUnrecognizedVMOptions",
                "-Djava.net.preferIPv6Addresses=false",
                "-Djdk.reflect.useDirectMethodHandle=false",
                "-Dio.netty.tryReflectionSetAccessible=true",
                *shlex.split(os.environ.get("SPARK_SUBMIT_OPTS", "")),
                *shlex.split(settings["spark.driver.extraJavaOptions"]),
                *(f"-D{key}={value}" for key, value in properties.items()),
                "-cp",
                os.pathsep.join(_class_path(connector, operator)),
                "org.apache.spark.sql.millrace.EarlySession",
            ],
            # The JVM ends when this pipe closes, however this process ends.
            stdin=subprocess.PIPE,
            env={**os.environ, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._note)},
            # Ctrl-C is for this process, which may still need the JVM.
            process_group=0 if apart else None,
        )

    def join(self) -> SparkSession | None:
        """Return the session, or None if the JVM has ended: then PySpark's own start says why."""
        while not self._note.exists():
            if self._process.poll() is not None:
                return None
            time.sleep(LOOK_SECONDS)
        port, length = struct.unpack(">ii", (raw := self._note.read_bytes())[:8])
        secret = raw[8:][:length].decode()
        self._folder.cleanup()

        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession

        from millrace_runtime import columns

        quiet()
        convert_if_imported()
        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = secret
        try:
            gateway = launch_gateway()  # type: ignore[no-untyped-call]
        finally:
            del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
        gateway.proc = self._process
        columns.remember_classes(gateway)
        java = columns.java_class(gateway, f"{columns.PACKAGE}.EarlySession").session()
        context = SparkContext(
            gateway=gateway,
            jsc=gateway.jvm.JavaSparkContext(java.sparkContext()),
            conf=SparkConf(_jconf=java.sparkContext().getConf()),
        )
        made = SparkSession(context, jsparkSession=java)
        prepare(made)
        return made

    def close(self) -> None:
        """End the JVM of a session that nobody has joined."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        self._folder.cleanup()
