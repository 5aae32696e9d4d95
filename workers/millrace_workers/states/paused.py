"""A driver is alive and reads nothing, as requested; it is monitored like one that reads."""

from millrace_workers.model import Deployment
from millrace_workers.states import running
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Running as soon as the driver reports that it reads again."""
    return running.step(deployment, tools)
