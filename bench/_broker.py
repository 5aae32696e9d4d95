"""A real broker for benchmarks: one JVM on free ports, with its data in a temporary folder."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

from launcher import java
from launcher.services import broker as embedded


def free_ports(count: int) -> list[int]:
    """Return ports of 127.0.0.1 that are free now."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


class Broker:
    """A broker that runs within a `with` block: `with Broker() as broker:`."""

    def __init__(self) -> None:
        os.environ.update(java.environment())
        self._folder = tempfile.TemporaryDirectory(prefix="millrace-broker-")
        self.port, self._controller = free_ports(2)
        self.address = f"127.0.0.1:{self.port}"
        self._properties = embedded.configure(Path(self._folder.name), self.port, self._controller)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._folder.cleanup()

    def start(self) -> None:
        """Start the broker and wait until it responds."""
        folder = Path(self._folder.name)
        self._process = subprocess.Popen(
            embedded.java_command(folder, self._properties),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while not embedded.metadata_known(self.address):
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise RuntimeError("the broker did not start")
            time.sleep(0.2)

    def stop(self, *, kill: bool = False) -> None:
        """Stop the broker. Its data is kept until the end of the block."""
        if self._process is not None:
            (self._process.kill if kill else self._process.terminate)()
            self._process.wait(timeout=30)
            self._process = None
