"""The real system, started as a person starts it, on ports and data of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
LINK = re.compile(r"https?://\S+/sign-in/\S+")
#: seconds; a loaded machine compiles the operator and builds the page first
PATIENCE = 420.0


@dataclass(frozen=True)
class System:
    """A running Millrace."""

    address: str
    #: signs in once
    link: str
    data: Path
    bootstrap_servers: str


@contextmanager
def running_system(folder: Path, port: int) -> Iterator[System]:
    """``./millrace up`` without the sample; everything it started is gone afterwards."""
    data = folder / "data"
    output = folder / "up.log"
    environment = {**os.environ, "MILLRACE_DATA": str(data)}
    for outside in ("KAFKA_BOOTSTRAP_SERVERS", "REDIS_URL", "DATABASE_URL", "MILLRACE_PUBLIC_URL"):
        environment.pop(outside, None)
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
        ports = json.loads((data / "run" / "ports.json").read_text())
        yield System(
            address=f"http://127.0.0.1:{port}",
            link=link,
            data=data,
            bootstrap_servers=f"127.0.0.1:{ports['broker']}",
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
