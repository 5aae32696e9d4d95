"""The driver could not be observed for a while: look again."""

from millrace_workers.model import Deployment
from millrace_workers.states.tools import Tools
from millrace_workers.states.watching import LIVING, after_end


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Determine the state from the process table and from the driver's last report."""
    if not deployment.wants_to_run:
        return "stopping"
    if deployment.run is None:
        # Nothing is lost by doing again what may have been half done.
        return "compiling"
    report = tools.reports.last_state(deployment.run.report_id)
    ended = tools.launcher.poll(deployment.directory, deployment.run.process)
    if ended is not None:
        return after_end(deployment, tools, ended, report)
    if report is None or report.state == "starting":
        return "starting"
    return report.state if report.state in LIVING else "running"
