"""An S3 server for tests on this machine: Moto, if it is installed.

Install it with `pip install "moto[server]"`; `moto_server` is found on PATH or by
MILLRACE_MOTO_SERVER.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

BUCKET = "state"
CORE_SITE = """<?xml version="1.0"?>
<configuration>
  <property><name>fs.s3a.endpoint</name><value>{endpoint}</value></property>
  <property><name>fs.s3a.endpoint.region</name><value>us-east-1</value></property>
  <property><name>fs.s3a.path.style.access</name><value>true</value></property>
  <property><name>fs.s3a.access.key</name><value>test</value></property>
  <property><name>fs.s3a.secret.key</name><value>test</value></property>
</configuration>
"""


@dataclasses.dataclass(frozen=True)
class Server:
    """An S3 server with an empty bucket. `configuration`: a folder for HADOOP_CONF_DIR."""

    endpoint: str
    configuration: Path
    process: subprocess.Popen[bytes]

    @property
    def environment(self) -> dict[str, str]:
        """The server's address and credentials as variables, instead of the configuration."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Suspend the server for the duration of the block."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def server(folder: Path) -> Iterator[Server]:
    """Run an S3 server with an empty bucket. Skips the test if no server is installed."""
    command = os.environ.get("MILLRACE_MOTO_SERVER") or shutil.which("moto_server")
    if command is None:
        pytest.skip("no moto_server; pip install 'moto[server]' and set MILLRACE_MOTO_SERVER")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [command, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        endpoint = f"http://127.0.0.1:{port}"
        _make_bucket(f"{endpoint}/{BUCKET}", process)
        folder.mkdir(parents=True, exist_ok=True)
        site = CORE_SITE.format(endpoint=endpoint)
        (folder / "core-site.xml").write_text(site, encoding="utf-8")
        yield Server(endpoint, folder, process)
    finally:
        process.kill()
        process.wait()


def end_java() -> None:
    """End the JVM that PySpark reuses for the next session: it was started without S3's jars."""
    from pyspark import SparkContext

    java = SparkContext._gateway
    if java is not None and SparkContext._active_spark_context is None:
        java.shutdown()
        java.proc.stdin.close()
        SparkContext._gateway = SparkContext._jvm = None


def _make_bucket(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    signed = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request"
    asked = urllib.request.Request(address, method="PUT", headers={"Authorization": signed})
    while True:
        try:
            urllib.request.urlopen(asked, timeout=10).close()
        except (urllib.error.URLError, ConnectionError):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return
