"""The real system, started by its command, with its own ports and data."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from millrace_services import local_services

from launcher import places

#: markers of tests that start a system of their own
OWN_SYSTEM = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow, pytest.mark.alone]

REPOSITORY = Path(__file__).resolve().parents[2]
LINK = re.compile(r"https?://\S+/sign-in/\S+")
#: seconds; on a loaded machine the operator and the page are built first
PATIENCE = 420.0
#: programs that a machine with only Python lacks; packages of the Python lock include them
BROUGHT_ALONG = {"java", "node", "npm", "npx", "redis-server", "valkey-server"}


@dataclass(frozen=True)
class System:
    """A running Millrace."""

    address: str
    #: a one-time sign-in link
    link: str
    data: Path
    bootstrap_servers: str
    #: the folder from which topologies may read files
    files: Path


def python_alone(folder: Path) -> dict[str, str]:
    """The environment of a machine without Java, Node and Redis, with nothing compiled.

    Jars that were fetched before are linked: fetching them again would show nothing.
    """
    commands = folder / "bin"
    commands.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for command in Path(place).glob("*") if Path(place) != places.VENV / "bin" else ():
            if command.name not in BROUGHT_ALONG and not (commands / command.name).is_symlink():
                (commands / command.name).symlink_to(command)
    cache = folder / "cache"
    fetched = places.cache() / "jars"
    if fetched.is_dir():
        shutil.copytree(fetched, cache / "jars", copy_function=_linked)
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    return {**environment, "PATH": str(commands), "MILLRACE_CACHE": str(cache)}


def _linked(source: str, target: str) -> None:
    """Link the file, or copy it if the target is on another disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@contextmanager
def running_system(
    folder: Path,
    port: int,
    machine: Mapping[str, str] | None = None,
    kafka: str | None = None,
    *,
    awake: bool = True,
) -> Iterator[System]:
    """Run ``./millrace up`` without the sample, and end everything it started after the block.

    ``machine`` is its environment, by default that of the tests; ``kafka`` is the address of an
    existing broker, by default it starts one. ``awake``: wait until the analyzer has started, so
    that the first test does not.
    """
    data = folder / "data"
    output = folder / "up.log"
    environment = {**(os.environ if machine is None else machine), "MILLRACE_DATA": str(data)}
    environment["MILLRACE_READERS"] = str(folder / "files")
    environment["MILLRACE_GIT_ROOTS"] = str(folder / "repositories")
    for outside in (
        "KAFKA_BOOTSTRAP_SERVERS",
        "REDIS_URL",
        "DATABASE_URL",
        "MILLRACE_PUBLIC_URL",
        "MILLRACE_OPERATOR_JAR",
    ):
        environment.pop(outside, None)
    if kafka is not None:
        environment["KAFKA_BOOTSTRAP_SERVERS"] = kafka
    with output.open("wb") as log:
        process = subprocess.Popen(
            ["./millrace", "up", "--no-sample", "--port", str(port)],
            cwd=REPOSITORY,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        link = _link(process, output)
        if awake:
            local_services.wait_until_awake(str(data / "run" / "services" / "analyzer"), PATIENCE)
        ports = json.loads((data / "run" / "ports.json").read_text())
        yield System(
            address=f"http://127.0.0.1:{port}",
            link=link,
            data=data,
            bootstrap_servers=kafka or f"127.0.0.1:{ports['broker']}",
            files=folder / "files",
        )
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(90)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _link(process: subprocess.Popen[bytes], output: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        text = output.read_text(errors="replace")
        found = LINK.search(text)
        if found:
            return found.group()
        if process.poll() is not None:
            raise AssertionError(f"./millrace up ended with {process.returncode}:\n{text}")
        time.sleep(0.2)
    raise AssertionError(f"./millrace up was not ready within {PATIENCE:.0f} s:\n{text}")
