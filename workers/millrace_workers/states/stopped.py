"""Nothing runs, as requested."""

from millrace_workers.model import Deployment, Unanswered
from millrace_workers.outages import Away
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Start if that is requested; delete a shadow that is to end."""
    if deployment.ending:
        try:
            tools.record.delete()
        except Unanswered as error:
            raise Away(error.cause) from error
        return None
    return "compiling" if deployment.wants_to_run else None
