"""Paths of the repository, the data folder and the cache."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
RUNTIME = REPOSITORY / "runtime"
FRONTEND = REPOSITORY / "frontend"
VENV = REPOSITORY / ".venv"
MANAGE = REPOSITORY / "backend" / "manage.py"
#: the folders that hold the project's packages, in the order of PYTHONPATH
PYTHON_PATH = tuple(
    str(REPOSITORY / room) for room in ("compiler", "runtime", "backend", "workers", ".")
)


def data() -> Path:
    """The data folder of this installation: MILLRACE_DATA, else .millrace in the repository."""
    return Path(os.environ.get("MILLRACE_DATA") or REPOSITORY / ".millrace").absolute()


def cache() -> Path:
    """Return the folder of downloaded and compiled jars: MILLRACE_CACHE, else ~/.cache/millrace."""
    return Path(os.environ.get("MILLRACE_CACHE") or Path.home() / ".cache" / "millrace").absolute()


def run() -> Path:
    """Return the folder with the lock, ports, state and drivers of the running system."""
    return data() / "run"


def socket(service: str) -> Path:
    """Return the Unix socket of a local service, in a folder that only its owner can open."""
    return run() / "services" / service


def logs() -> Path:
    """Return the folder with a log file for each service."""
    return data() / "logs"
