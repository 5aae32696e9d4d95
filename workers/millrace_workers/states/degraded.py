"""A driver lives and reports that it can not work as it should."""

from millrace_workers.model import Deployment
from millrace_workers.states import running
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """As running; back to running once the driver says so."""
    left = running.step(deployment, tools)
    if left is not None or deployment.run is None:
        return left
    report = tools.reports.last_state(deployment.run.report_id)
    return "running" if report is not None and report.state == "running" else None
