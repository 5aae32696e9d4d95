"""A driver lives: look after it."""

from millrace_workers.model import Deployment
from millrace_workers.states.tools import Tools
from millrace_workers.states.watching import after_end, arrived


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Stay, unless the user wants something else or the driver is gone."""
    if deployment.run is None:
        return "restarting" if deployment.wants_to_run else "stopping"
    if not deployment.wants_to_run or deployment.restart_requested:
        return "stopping"
    ended = tools.launcher.poll(deployment.directory, deployment.run.process)
    if ended is not None:
        report = tools.reports.last_state(deployment.run.report_id)
        return after_end(deployment, tools, ended, report)
    arrived(deployment, tools)
    if deployment.run.version != deployment.version:
        return "compiling"
    return None
