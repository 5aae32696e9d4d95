"""A driver is alive: monitor it."""

from millrace_workers.model import Deployment
from millrace_workers.states.standing_by import keep
from millrace_workers.states.tools import Tools
from millrace_workers.states.watching import LIVING, after_end, arrived, control, trouble


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Stay, unless the user wants something else, the driver is gone, or it does not respond."""
    run = deployment.run
    if run is None:
        return "restarting" if deployment.wants_to_run else "stopping"
    if not deployment.wants_to_run:
        return "stopping"
    if deployment.restart_requested:
        if deployment.paused:
            return "stopping"
        # A change of dialect needs another program.
        return "staging" if deployment.staged else "compiling"
    ended = tools.launcher.poll(deployment.directory, run.process)
    if ended is not None:
        return after_end(deployment, tools, ended, tools.reports.last_state(run.report_id))
    control(deployment)
    arrived(deployment, tools)
    if run.version != deployment.version:
        return "compiling"
    pulse = tools.reports.pulse(run.report_id)
    found = trouble(deployment, tools, pulse)
    if found is not None:
        tools.record.fail(found)
        return "degraded"
    keep(deployment, tools)
    if pulse is None or pulse.state not in LIVING:
        return None
    return None if pulse.state == deployment.observed else pulse.state
