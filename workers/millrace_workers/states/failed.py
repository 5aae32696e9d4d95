"""The deployment has failed and is not restarted; the cause is shown at the node."""

from millrace_workers.model import Deployment
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Leave only if the user requests a start, a restart, another version or a stop."""
    if deployment.run is not None:
        return "stopping"
    if not deployment.wants_to_run:
        return "stopped"
    return "compiling" if deployment.restart_requested else None
