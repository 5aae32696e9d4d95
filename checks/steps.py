"""Commands that consist of steps, each a process whose output is shown only if it fails."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from launcher import places
from launcher.console import echo


@dataclass(frozen=True)
class Step:
    """One process of a check."""

    name: str
    command: Sequence[str]
    #: what to do when it fails
    remedy: str = ""


def run_all(steps: Sequence[Step], *, at_once: int) -> bool:
    """Run all steps, even if one fails, `at_once` at a time; return whether all succeeded."""
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        return all(list(pool.map(run, steps)))


def run(step: Step) -> bool:
    """Run one step; print its output if it fails."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            list(step.command),
            cwd=places.REPOSITORY,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        code, output = done.returncode, (done.stdout + done.stderr).strip()
    except OSError as error:
        code, output = 127, f"{step.command[0]}: {error.strerror}"
    took = time.monotonic() - began
    if code == 0:
        echo(f"  ok      {step.name} ({took:.1f} s)")
        return True
    echo(
        f"{output}\n  FAILED  {step.name} ({took:.1f} s){'. ' + step.remedy if step.remedy else ''}"
    )
    return False


def environment() -> dict[str, str]:
    """Return the environment of the steps, with the project's packages on the import path."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places.PYTHON_PATH)}
