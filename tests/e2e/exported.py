"""Runs an exported job in an environment without Millrace."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

#: all packages that an exported job may need
PACKAGES = ("pyspark", "py4j")
KEPT = ("PATH", "HOME", "LANG", "JAVA_HOME", "MILLRACE_CACHE", "TMPDIR")


def plain_environment(folder: Path) -> Path:
    """Create a virtual environment with Spark only; return its Python."""
    venv.create(folder, with_pip=False, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = folder / "lib" / version / "site-packages"
    for package in PACKAGES:
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        (site / package).symlink_to(Path(spec.origin).parent)
    return folder / "bin" / "python"


def run_job(zipped: Path, folder: Path, bootstrap_servers: str) -> str:
    """Unpack the zip, run ``python job.py`` until its topics are read; return its output."""
    with zipfile.ZipFile(zipped) as archive:
        archive.extractall(folder / "job")
    # The runtime contains a deeper module with the same name.
    job = min((folder / "job").rglob("job.py"), key=lambda path: len(path.parts))
    command = [
        str(plain_environment(folder / "venv")),
        "job.py",
        "--bootstrap-servers",
        bootstrap_servers,
        "--checkpoint",
        str(folder / "checkpoint"),
        "--available-now",
    ]
    done = subprocess.run(
        command,
        cwd=job.parent,
        env={name: os.environ[name] for name in KEPT if name in os.environ},
        capture_output=True,
        text=True,
        timeout=420,
        check=False,
    )
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed[-4000:]
    return printed
