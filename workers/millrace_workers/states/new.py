"""Just created: nothing exists yet."""

from millrace_workers.model import Deployment
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Begin at once if it should run."""
    return "compiling" if deployment.wants_to_run else "stopped"
