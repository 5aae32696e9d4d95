"""``./millrace up``: run all services on this machine, until Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import importlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from millrace_services import local_services

from launcher import archive, commands, jars, node, places, ports
from launcher.console import Problem, echo
from launcher.ports import HOST
from launcher.services import (
    System,
    analyzer,
    backend,
    broker,
    celery,
    generators,
    redis,
    setup,
    simulator,
    spark,
)
from launcher.supervisor import Service, Supervisor

#: free bytes below which Kafka, Redis and checkpoints would soon fail
SPACE = 1_000_000_000
USUAL_PORTS = {
    "broker": 9092,
    "controller": 9093,
    "redis": 6379,
    "spark-master": 7077,
    "spark-master-page": 8090,
}
#: the setting that replaces an embedded service with an external one
OUTSIDE = {"broker": "KAFKA_BOOTSTRAP_SERVERS", "redis": "REDIS_URL"}
LINK = re.compile(r"(https?://\S+/sign-in/\S+|/sign-in/\S+)")


def main(arguments: list[str]) -> int:
    """="""
    parser = commands.parser("up")
    parser.add_argument("--port", type=int, default=None, help="port of the page (default: 8000)")
    parser.add_argument(
        "--no-sample", action="store_true", help="do not deploy the sample topology"
    )
    parser.add_argument(
        "--cluster", action="store_true", help="start a standalone Spark cluster with 2 workers"
    )
    parser.add_argument("--verbose", action="store_true", help="print the output of the services")
    options = parser.parse_args(arguments[1:])
    began = time.monotonic()
    check_idle_seconds()
    make_folders()
    with only_one():
        web = ports.demand(8000 if options.port is None else options.port, "the page")
        with ThreadPoolExecutor(max_workers=1) as pool:
            page = pool.submit(node.build_page)
            jars.ensure(*(["connector"] if replaced("broker") else ["broker", "connector"]))
            operator = build_operator()
            page.result()
        # Ports are chosen last, because a free one may be taken during the preparation.
        system = describe(web, operator, cluster=options.cluster)
        supervisor = Supervisor(
            places.run(),
            places.logs(),
            echo=options.verbose,
            notes={
                "address": system.environment["MILLRACE_PUBLIC_URL"],
                "kafka": system.environment["KAFKA_BOOTSTRAP_SERVERS"],
            },
        )
        return asyncio.run(run(supervisor, system, options, began))


async def run(
    supervisor: Supervisor, system: System, options: argparse.Namespace, began: float
) -> int:
    """Start the services, print the address, wait, and stop them in any case."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, _asked_to_stop, supervisor)
    try:
        sample = not options.no_sample and not _sample_made(system).exists()
        services = selection(system, cluster=options.cluster, sample=sample)
        echo(f"starting: {', '.join(service.name for service in services)}")
        await supervisor.start(services)
        if not supervisor.stopping():
            if sample:
                await asyncio.to_thread(start_sample, system)
            echo(f"ready after {time.monotonic() - began:.1f} s")
            announce(supervisor, system)
            await supervisor.wait()
    finally:
        first = not archive.spark().ready()
        later = (
            " (the first stop also writes an archive that makes later starts faster)"
            if first
            else ""
        )
        echo(f"stopping: drivers and services{later}")
        await supervisor.stop()
        echo("stopped; data is kept in " + str(system.data))
    return 0


def selection(system: System, *, cluster: bool, sample: bool = False) -> list[Service]:
    """The services of this start, in the order in which they are listed.

    `sample`: the sample topology is going to be deployed.
    """
    services = []
    if "broker" not in system.outside:
        services.append(broker.service(system))
    if "redis" not in system.outside:
        services.append(redis.service(system))
    services += [
        # The sample is compiled as soon as the backend responds.
        analyzer.service(system, eager=sample),
        setup.service(system),
        backend.service(system),
        celery.worker(system),
        celery.beat(system),
        simulator.service(system),
        simulator.reader(system),
        generators.service(system),
    ]
    if cluster:
        services += spark.services(system)
    return services


def replaced(part: str) -> bool:
    """Return whether the environment names an external service in place of this embedded one."""
    return bool(os.environ.get(OUTSIDE[part]))


def describe(web_port: int, operator: Path, *, cluster: bool) -> System:
    """Return the ports, addresses and common environment of the services."""
    chosen = ports.choose(places.run() / "ports.json", USUAL_PORTS)
    password = redis_password()
    environment = {
        "MILLRACE_DATA": str(places.data()),
        "MILLRACE_CACHE": str(places.cache()),
        "MILLRACE_PUBLIC_URL": os.environ.get("MILLRACE_PUBLIC_URL") or f"http://{HOST}:{web_port}",
        "MILLRACE_ANALYZER": str(places.socket("analyzer")),
        "MILLRACE_SIMULATOR": str(places.socket("simulator")),
        "MILLRACE_STORE_READER": str(places.socket(simulator.READER)),
        "MILLRACE_GENERATORS": str(places.socket("generators")),
        "KAFKA_BOOTSTRAP_SERVERS": os.environ.get("KAFKA_BOOTSTRAP_SERVERS")
        or f"{HOST}:{chosen['broker']}",
        "REDIS_URL": os.environ.get("REDIS_URL")
        or f"redis://:{password}@{HOST}:{chosen['redis']}/0",
        # the compiled operator for drivers and exports
        "MILLRACE_OPERATOR_JAR": str(operator),
        "DJANGO_SETTINGS_MODULE": "millrace_backend.settings",
        "SPARK_LOCAL_IP": HOST,
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": os.pathsep.join(places.PYTHON_PATH),
    }
    # Drivers start from the archive that the analyzer's first run has left.
    environment.update(archive.with_options(archive.spark().use()))
    if cluster:
        environment["SPARK_MASTER"] = f"spark://{HOST}:{chosen['spark-master']}"
    return System(
        data=places.data(),
        run=places.run(),
        python=sys.executable,
        web_port=web_port,
        ports=chosen,
        redis_password=password,
        outside=frozenset(part for part in OUTSIDE if replaced(part)),
        environment=environment,
    )


def check_idle_seconds() -> None:
    """Raise Problem if the time after which unused services end is invalid."""
    try:
        local_services.idle_seconds()
    except ValueError as error:
        raise Problem(str(error)) from error


def make_folders() -> None:
    """Create the data folder. Raises Problem if it is not writable or its disk is full."""
    folder = places.data()
    try:
        for path in (folder, places.run(), places.run() / "drivers", places.logs()):
            path.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        (places.run() / "writable").write_text("", encoding="utf-8")
        (places.run() / "writable").unlink()
    except OSError as error:
        raise Problem(
            f"The data folder {folder} cannot be written ({error.strerror}). "
            "Set MILLRACE_DATA to a folder that this user can write to."
        ) from error
    free = shutil.disk_usage(folder).free
    if free < SPACE:
        raise Problem(
            f"The disk of the data folder {folder} has {free / 1e6:.0f} MB left; at least "
            f"{SPACE / 1e6:.0f} MB are needed. Free some, or set MILLRACE_DATA to another disk."
        )


@contextmanager
def only_one() -> Iterator[None]:
    """Hold the lock of the data folder, so that only one system runs on it. Raises Problem.

    The lock ends with the process that holds it.
    """
    with (places.run() / "lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Problem(
                f"Millrace is already running for {places.data()} (process {lock.read().strip()}). "
                "See ./millrace status; ./millrace sign-in prints a new sign-in link; stop it with "
                "./millrace down; or start a second one with "
                "MILLRACE_DATA set to another folder and another --port."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        wait_for_guardian()
        try:
            yield
        finally:
            lock.truncate(0)


def wait_for_guardian() -> None:
    """Wait for the previous guardian, which may still be stopping a killed launcher's processes."""
    with (places.run() / "guardian.lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            echo("waiting for processes of the previous run to stop")
            fcntl.flock(lock, fcntl.LOCK_EX)


def redis_password() -> str:
    """Return the embedded Redis's password, created once, in a file only its owner can read."""
    path = places.run() / "redis-password"
    if not path.exists():
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(secrets.token_urlsafe(32))
    return path.read_text(encoding="utf-8").strip()


def build_operator() -> Path:
    """Compile the Scala operator if its sources changed, so that no deployment waits for it."""
    runtime_jars = importlib.import_module("millrace_runtime.jars")
    errors = importlib.import_module("millrace_runtime.errors")
    try:
        before = set(places.cache().glob("millrace-operator-*.jar"))
        began = time.monotonic()
        if not before:
            echo("operator: compiling (half a minute the first time)")
        jar: Path = runtime_jars.operator_jar()
        if jar not in before:
            echo(f"operator: compiled in {time.monotonic() - began:.0f} s")
        return jar
    except errors.MillraceError as error:
        raise Problem(str(error)) from error


def start_sample(system: System) -> None:
    """Create the sample *Word count* with its generator and deploy it, once per data folder."""
    made = _sample_made(system)
    done = subprocess.run(
        [system.python, str(places.MANAGE), "millrace_sample"],
        env={**os.environ, **system.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    with (places.logs() / "sample.log").open("a", encoding="utf-8") as log:
        log.write(done.stdout + done.stderr)
    if done.returncode == 0:
        made.touch()
    else:
        lines = (done.stdout + done.stderr).strip().splitlines()
        echo(
            f"sample: Word count could not be deployed: {lines[-1] if lines else 'no reason given'}"
        )


def _sample_made(system: System) -> Path:
    return system.data / "sample-started"


def announce(supervisor: Supervisor, system: System) -> None:
    """Print the address and the sign-in link to standard output."""
    address = system.environment["MILLRACE_PUBLIC_URL"]
    link = None
    for line in supervisor.services["setup"].lines:
        found = LINK.search(line)
        if found:
            link = found.group(1) if "://" in found.group(1) else address + found.group(1)
    print(f"\n  Millrace runs at  {address}")
    if link:
        print(f"  Sign in once with {link}")
    print("  Stop it with Ctrl-C or ./millrace down\n", flush=True)


def _asked_to_stop(supervisor: Supervisor) -> None:
    if supervisor.stopping():
        echo("already stopping, please wait a few seconds")
    with contextlib.suppress(BrokenPipeError):
        supervisor.ask_to_stop()
