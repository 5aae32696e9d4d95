"""Nobody could see the driver for a while: look again."""

from millrace_workers.model import Deployment
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """The process table is the truth."""
    if not deployment.wants_to_run:
        return "stopping"
    if deployment.run is None:
        return "starting"
    alive = tools.launcher.poll(deployment.directory, deployment.run.process) is None
    return "running" if alive else "restarting"
