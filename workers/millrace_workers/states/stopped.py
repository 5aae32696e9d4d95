"""Nothing runs, as wanted."""

from millrace_workers.model import Deployment
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Begin anew when the user wants it to run."""
    return "compiling" if deployment.wants_to_run else None
