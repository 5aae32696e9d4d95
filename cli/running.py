"""`run`: run the compiled job with a real broker, in the foreground."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from millrace_runtime.driver.options import kafka_options
from millrace_runtime.errors import MillraceError
from millrace_runtime.jars import connector_jars, java, storage_jars
from millrace_runtime.kafka.reaching import require_reachable, uses_broker

from cli.compiling import compile_command
from cli.documents import read_document
from launcher import processes
from launcher.console import echo

#: maximum seconds to wait for a job that is stopping, which finishes its micro-batch first
STOP_SECONDS = 60.0


def _plain(arguments: argparse.Namespace) -> dict[str, str]:
    """Return an environment in which the plain dialect's job.py finds Kafka's connector."""
    place = storage_jars(arguments.checkpoint or "")
    jars = [str(jar) for jar in (*connector_jars(), *place)]
    options = ["--driver-class-path", os.pathsep.join(jars), "--jars", ",".join(jars)]
    options += ["--master", arguments.master or os.environ.get("SPARK_MASTER") or "local[*]"]
    submit = shlex.join([*options, "pyspark-shell"])
    home = os.environ.get("JAVA_HOME") or str(Path(java()).resolve().parents[1])
    return {**os.environ, "PYSPARK_SUBMIT_ARGS": submit, "JAVA_HOME": home}


def _kafka_config(file: Path) -> list[str]:
    """Return options with the settings of Kafka clients, which exact jobs read from variables."""
    options = kafka_options(None, os.environ)
    if not options:
        return []
    file.write_text("".join(f"{name}={value}\n" for name, value in options.items()), "utf-8")
    return ["--kafka-config", str(file)]


def run_command(arguments: argparse.Namespace) -> int:
    """Compile into a temporary folder and run job.py as a deployment would."""
    document = read_document(arguments.document, arguments.environment)
    if uses_broker(document):
        # Before Spark starts to check the expressions.
        try:
            client = kafka_options(None, os.environ)
            require_reachable(arguments.bootstrap_servers, client.get("security.protocol"))
        except MillraceError as error:
            echo(error.message)
            return 1
    name = str(document.get("name") or "topology")
    data = Path(os.environ.get("MILLRACE_DATA") or Path.cwd() / ".millrace")
    # The name may contain characters that a folder's name may not.
    folder = quote(name, safe="").replace(".", "%2E")
    checkpoint = arguments.checkpoint or str(data / "run" / "checkpoints" / folder)
    with tempfile.TemporaryDirectory(prefix="millrace-run-") as scratch:
        compiled = compile_command(
            argparse.Namespace(
                document=arguments.document,
                environment=arguments.environment,
                output=scratch,
                json=False,
                real_time=bool(arguments.real_time),
                dialect=arguments.dialect,
            )
        )
        if compiled != 0:
            return compiled
        command = [
            sys.executable, str(Path(scratch) / "job.py"), "--checkpoint", checkpoint,
            "--bootstrap-servers", arguments.bootstrap_servers,
        ]  # fmt: skip
        if arguments.available_now:
            command.append("--available-now")
        if arguments.real_time:
            command += ["--real-time", arguments.real_time]
        for decision in arguments.decide:
            command += ["--decide", decision]
        if arguments.master and arguments.dialect == "exact":
            command += ["--master", arguments.master]
        environment = None
        if arguments.dialect == "plain":
            environment = _plain(arguments)
            command += _kafka_config(Path(scratch) / "kafka.properties")
        return _until_it_ends(command, Path(scratch), environment)


def _until_it_ends(
    command: list[str], folder: Path, environment: dict[str, str] | None = None
) -> int:
    """Return the job's exit code, or 130 if Ctrl-C, SIGTERM or SIGHUP stopped it.

    A second signal kills the job. It runs in its own session, so that a terminal's Ctrl-C reaches
    only this process: a driver, its Java and its Python workers would otherwise each print a
    traceback.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    job = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True)
    try:
        return job.wait()
    except KeyboardInterrupt:
        echo("stopping the job; press Ctrl-C again to kill it")
        job.terminate()
        with contextlib.suppress(KeyboardInterrupt, subprocess.TimeoutExpired):
            job.wait(timeout=STOP_SECONDS)
        return 128 + signal.SIGINT
    finally:
        processes.signal_group(job.pid, signal.SIGKILL)
        job.wait()
