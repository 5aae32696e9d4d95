"""A driver does not respond, or its batch does not end: wait a little, then restart it."""

import contextlib

from millrace_workers.model import Deployment, Failure, Run
from millrace_workers.states.tools import Tools
from millrace_workers.states.watching import (
    LIVING,
    after_end,
    arrived,
    control,
    fall_back,
    take_over,
    trouble,
)

#: number of thread dumps to keep for a deployment
DUMPS_KEPT = 10


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Leave if the driver responds again; otherwise restart it and keep its thread dump."""
    run = deployment.run
    if run is None:
        return "restarting" if deployment.wants_to_run else "stopping"
    if not deployment.wants_to_run or deployment.restart_requested:
        return "stopping"
    ended = tools.launcher.poll(deployment.directory, run.process)
    if ended is not None:
        return after_end(deployment, tools, ended, tools.reports.last_state(run.report_id))
    control(deployment)
    pulse = tools.reports.pulse(run.report_id)
    found = trouble(deployment, tools, pulse)
    if found is None:
        tools.record.clear_failure()
        state = None if pulse is None else pulse.state
        return state if state in LIVING else "running"
    if tools.now() - deployment.since < tools.degraded_seconds:
        return None
    return _restart(deployment, tools, run, found)


def _restart(deployment: Deployment, tools: Tools, run: Run, found: Failure) -> str:
    threads = tools.launcher.threads(run.process, deployment.log_file)
    tools.launcher.kill(run.process)
    # A full disk must not prevent the restart.
    with contextlib.suppress(OSError):
        keep(deployment, run, f"{found.message}\n\n{threads}")
    failure = Failure(
        "driver_restarted",
        f"{found.message} It was restarted; a thread dump was saved.",
        cause=found,
    )
    tools.record.end_run("killed", failure)
    if deployment.fallback is not None and not arrived(deployment, tools):
        return fall_back(deployment, tools, failure)
    tools.record.fail(failure)
    return take_over(deployment, tools)


def keep(deployment: Deployment, run: Run, text: str) -> None:
    """Keep the thread dump of a run, and forget the oldest ones."""
    file = deployment.threads_file(run.id)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    dumps = sorted(file.parent.glob("*.txt"), key=lambda each: each.stat().st_mtime)
    for old in dumps[:-DUMPS_KEPT]:
        old.unlink(missing_ok=True)
