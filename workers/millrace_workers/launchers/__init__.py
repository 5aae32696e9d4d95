"""Launchers start and stop driver processes; one file per place where a driver can run."""

from millrace_workers.launchers.base import (
    CheckpointInUse,
    Ended,
    JobSpec,
    Launcher,
    NotStarted,
    Standby,
)
from millrace_workers.launchers.local import LocalLauncher

__all__ = [
    "CheckpointInUse", "Ended", "JobSpec", "Launcher", "LocalLauncher", "NotStarted", "Standby",
]  # fmt: skip
