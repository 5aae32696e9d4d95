"""Launchers start and stop driver processes; one file per place where a driver can run."""

from millrace_workers.launchers.base import Ended, JobSpec, Launcher, Process
from millrace_workers.launchers.local import LocalLauncher

__all__ = ["Ended", "JobSpec", "Launcher", "LocalLauncher", "Process"]
