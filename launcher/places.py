"""Where things lie: the repository, the data folder, the cache."""

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
    """Where fetched and compiled jars are kept: MILLRACE_CACHE, else ~/.cache/millrace."""
    return Path(os.environ.get("MILLRACE_CACHE") or Path.home() / ".cache" / "millrace").absolute()


def run() -> Path:
    """Notes about the running system: lock, ports, state, drivers."""
    return data() / "run"


def logs() -> Path:
    """One log file for each service."""
    return data() / "logs"
