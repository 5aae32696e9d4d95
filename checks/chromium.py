"""A Chromium for the journeys: the machine's own, Debian's if permitted, or Playwright's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from launcher.console import echo

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """Return the path of Chromium: MILLRACE_CHROMIUM, one on PATH, or Playwright's; else None."""
    given = os.environ.get("MILLRACE_CHROMIUM")
    if given:
        return given
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    return _of_playwright()


def ensure() -> tuple[str | None, str]:
    """Return a Chromium, installed if necessary, or None and the reason."""
    found = find()
    if found:
        return found, ""
    reasons = []
    apt = shutil.which("apt-get")
    if apt and os.geteuid() == 0:
        echo("chromium: installing Debian's package")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (
            [apt, "update", "-qq"],
            [apt, "install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-noto-cjk"],
        ):
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
        found = find()
        if found:
            return found, ""
        reasons.append(f"apt-get: {_last_line(done)}")
    else:
        reasons.append("no permission to install Debian's package")
    echo("chromium: installing Playwright's own")
    done = subprocess.run(
        [sys.executable, "-m", "playwright", "install", "chromium"],
        capture_output=True,
        text=True,
        check=False,
    )
    found = _of_playwright()
    if found:
        return found, ""
    reasons.append(f"playwright: {_last_line(done)}")
    return None, "no Chromium: " + "; ".join(reasons)


def _of_playwright() -> str | None:
    root = Path(
        os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright"
    )
    found = sorted(root.glob("chromium-*/chrome-linux*/chrome"))
    return str(found[-1]) if found else None


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"
