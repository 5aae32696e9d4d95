"""Commands of the backend: ``deploy``, ``scale``, ``shadow``, ``old-state``, ``installation``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress

from launcher import places
from launcher.ports import HOST


def main(arguments: list[str]) -> int:
    """Run the backend's command, which declares the options, and return its exit code."""
    command = f"millrace_{arguments[0].replace('-', '_')}"
    return subprocess.run(
        [sys.executable, str(places.MANAGE), command, *arguments[1:]],
        env={**environment(), **os.environ},
        check=False,
    ).returncode


def environment() -> dict[str, str]:
    """Return settings with the addresses of this system's services, if it has been started."""
    found = {
        "MILLRACE_DATA": str(places.data()),
        "DJANGO_SETTINGS_MODULE": "millrace_backend.settings",
        "PYTHONPATH": os.pathsep.join(places.PYTHON_PATH),
    }
    with suppress(OSError, ValueError):
        ports = json.loads((places.run() / "ports.json").read_text(encoding="utf-8"))
        password = (places.run() / "redis-password").read_text(encoding="utf-8").strip()
        found["REDIS_URL"] = f"redis://:{password}@{HOST}:{ports['redis']}/0"
        found["KAFKA_BOOTSTRAP_SERVERS"] = f"{HOST}:{ports['broker']}"
        found["MILLRACE_ANALYZER"] = str(places.socket("analyzer"))
        found["MILLRACE_STORE_READER"] = str(places.socket("store-reader"))
    return found
