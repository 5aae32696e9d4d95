"""The driver is alive, but its query has ended until a record arrives."""

from millrace_workers.model import Deployment
from millrace_workers.states import running
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Change to running as soon as the driver reports that it reads again."""
    return running.step(deployment, tools)
