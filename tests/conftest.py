"""Fixtures for all test folders: a browser, free ports, a real Kafka broker and a real Redis."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis
import pytest
from playwright.sync_api import Browser, sync_playwright

from checks import chromium as chromium_of_this_machine
from launcher import archive, java
from launcher.services import broker as embedded_broker
from launcher.services import redis as embedded_redis

# A busy machine is slow, so a slow example is not a failure.
hypothesis.settings.register_profile(
    "millrace", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("millrace")

#: no optimizing compiler
QUICK = "-XX:TieredStopAtLevel=1"


def pytest_configure() -> None:
    """Make SIGTERM an interrupt, so that an ended run also ends its brokers and servers."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    os.environ["MILLRACE_RESIDENT"] = "0"  # commands that tests run leave no process behind
    # Most of Spark's JVMs live for seconds: optimizing their code would take the time of the tests.
    if QUICK not in os.environ.get("SPARK_SUBMIT_OPTS", ""):
        os.environ.update(archive.with_options([QUICK]))


def _interrupt(number: int, frame: FrameType | None) -> None:
    # Ctrl-C reaches this process directly and again through `./millrace test`: ignore the second.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.default_int_handler(number, frame)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium; skips the test with the reason if there is none."""
    found = chromium_of_this_machine.find()
    if found is None:
        pytest.skip(os.environ.get("MILLRACE_NO_CHROMIUM", "no Chromium was found on this machine"))
    return found


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """A real Chromium."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()


def unused_port() -> int:
    """Return a port of 127.0.0.1 that is not in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def free_port() -> Callable[[], int]:
    """A function that returns another free port at each call."""
    return unused_port


@dataclass
class Broker:
    """A real Kafka broker for the tests."""

    address: str
    folder: Path
    #: its process id
    process: int
    #: the address of a listener that requires a password
    secured: str


#: variables for a client of the secured listener
CLIENT_VARIABLES = {
    "MILLRACE_KAFKA_security_protocol": "SASL_PLAINTEXT",
    "MILLRACE_KAFKA_sasl_mechanism": "PLAIN",
    "MILLRACE_KAFKA_sasl_jaas_config": "org.apache.kafka.common.security.plain.PlainLoginModule "
    'required username="alice" password="open=sesame";',
}
SECURED = """
listeners=CLIENTS://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller},SECURED://127.0.0.1:{secured}
advertised.listeners=CLIENTS://127.0.0.1:{port},SECURED://127.0.0.1:{secured}
listener.security.protocol.map=CLIENTS:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_PLAINTEXT
sasl.enabled.mechanisms=PLAIN
listener.name.secured.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.\
PlainLoginModule required user_alice="open=sesame";
"""


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """One Kafka for the session, with its own data; tests use topic names of their own."""
    os.environ.update(java.environment())
    folder = tmp_path_factory.mktemp("kafka")
    port, controller, secured = unused_port(), unused_port(), unused_port()
    properties = embedded_broker.configure(folder, port, controller)
    with properties.open("a", encoding="utf-8") as more:
        more.write(SECURED.format(port=port, controller=controller, secured=secured))
    address = f"127.0.0.1:{port}"
    with (folder / "broker.log").open("wb") as log:
        process = subprocess.Popen(
            embedded_broker.java_command(folder, properties, QUICK), stdout=log, stderr=log
        )
    try:
        until(lambda: embedded_broker.metadata_known(address), 60, process)
        yield Broker(address, folder, process.pid, f"127.0.0.1:{secured}")
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="module")
def warm() -> Iterator[Any]:
    """A warm Spark session that runs one simulation after another."""
    from cli.simulating import Warm

    session = Warm()
    yield session
    session.close()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the embedded Redis, with a password, on a port of its own."""
    password = secrets.token_urlsafe(12)
    port = unused_port()
    settings = embedded_redis.configure(tmp_path_factory.mktemp("redis"), port, password)
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    process = subprocess.Popen(
        [str(embedded_redis.binary()), str(settings)], stdout=subprocess.DEVNULL
    )
    try:
        until(lambda: embedded_redis.answers(url), 20, process)
        yield url
    finally:
        process.terminate()
        process.wait(20)


def until(condition: Callable[[], bool], seconds: float, process: subprocess.Popen[Any]) -> None:
    """Wait until the condition holds; fail the test after `seconds` or when the process ends."""
    deadline = time.monotonic() + seconds
    while not condition():
        if process.poll() is not None:
            pytest.fail(f"{process.args!r} ended with {process.returncode}")
        if time.monotonic() > deadline:
            pytest.fail(f"{process.args!r} did not answer within {seconds:.0f} s")
        time.sleep(0.05)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all backend tests as `services`: their fixtures start a real Redis."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).with_name("backend")):
            item.add_marker("services")
