"""The second driver of a deployment, from the notes that it and its shim keep in its folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from millrace_model.drivers import DeploymentSettings
from millrace_model.events import CauseJson

from deployments import files, handover
from deployments.choices import ColdReason, Observed, StandbyState
from deployments.models import Deployment, Run
from deployments.snapshots import Cause

#: why there is no standby where a driver cannot be prepared beside another one
_ABSENT = {
    ColdReason.MEMORY: "A second driver needs {needed} MB of memory, but only {free} MB are free.",
    ColdReason.PAUSED: "The deployment is paused.",
    ColdReason.CLUSTER: "On a Spark cluster there is no second driver.",
    ColdReason.PLAIN: "Plain PySpark has no second driver.",
}


_RUNNING = {Observed.RUNNING, Observed.PAUSED, Observed.DEGRADED, Observed.ASLEEP}


class StandbyJson(TypedDict):
    """A standby, as the API shows it."""

    state: StandbyState
    pid: int | None
    since: datetime | None
    reason: CauseJson | None


def standby_of(deployment: Deployment) -> StandbyJson | None:
    """Return the standby; None if the settings ask for none, or the deployment does not run.

    None too while a change is prepared: the second driver is then the one of the next version.
    """
    run = deployment.live_run
    if run is None or deployment.observation.state not in _RUNNING:
        return None
    settings: DeploymentSettings = run.settings or deployment.settings
    if not settings.get("standby"):
        return None
    folder = _folder(deployment.directory, run)
    if folder is None:
        return {
            "state": StandbyState.ABSENT,
            "pid": None,
            "since": None,
            "reason": _reason(deployment, settings),
        }
    # It is ready once the worker has told it to take the checkpoint as soon as that is free.
    ready = folder / "go"
    state = StandbyState.READY if ready.exists() else StandbyState.PREPARING
    if (folder / "exit.json").exists():
        state = StandbyState.FAILED
    note = folder / "process.json"
    pid = files.read_object(deployment.directory, note).get("pid")
    return {
        "state": state,
        "pid": pid if isinstance(pid, int) else None,
        "since": _changed(ready if state == StandbyState.READY else note),
        "reason": None,
    }


def _folder(directory: Path, run: Run) -> Path | None:
    """The notes of a driver other than the one that runs."""
    for folder in sorted((directory / "standby").glob("*")):
        note = files.read_object(directory, folder / "process.json")
        if note and (note.get("pid"), note.get("born")) != (run.pid, run.process_born):
            return folder
    return None


def _changed(file: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except OSError:
        return None


def _reason(deployment: Deployment, settings: DeploymentSettings) -> CauseJson | None:
    """Why no standby can be prepared; None if one will be."""
    cold = handover.cold_reason(settings, deployment.directory, paused=deployment.paused)
    if cold is None:
        return None
    message = _ABSENT[cold.code].format(**cold.facts)
    return Cause(f"standby_{cold.code}", message, facts=cold.facts).cause_fields()
