"""The life of a deployment: one file for each state, each with one function ``step``.

``step(deployment, tools)`` looks at the world once and says where the deployment goes next:
a name of a state, or None to stay. It may be called again at any moment, by any worker,
after any crash, so it asks the world what is there and never remembers.
"""

from collections.abc import Callable

from millrace_workers.model import Deployment
from millrace_workers.states import (
    checking,
    compiling,
    degraded,
    failed,
    new,
    restarting,
    running,
    staging,
    starting,
    stopped,
    stopping,
    unknown,
)
from millrace_workers.states.tools import Tools

Step = Callable[[Deployment, Tools], str | None]

STATES: dict[str, Step] = {
    "new": new.step,
    "compiling": compiling.step,
    "checking": checking.step,
    "staging": staging.step,
    "starting": starting.step,
    "running": running.step,
    "degraded": degraded.step,
    "restarting": restarting.step,
    "stopping": stopping.step,
    "stopped": stopped.step,
    "failed": failed.step,
    "unknown": unknown.step,
}

#: where each state may lead; anything else is a programming error
TRANSITIONS: dict[str, frozenset[str]] = {
    "new": frozenset({"compiling", "stopped"}),
    "compiling": frozenset({"checking", "failed", "stopping", "running"}),
    "checking": frozenset({"staging", "failed", "stopping", "running"}),
    "staging": frozenset({"starting", "checking", "failed", "stopping"}),
    "starting": frozenset({"running", "restarting", "failed", "stopping"}),
    "running": frozenset({"degraded", "compiling", "restarting", "failed", "stopping"}),
    "degraded": frozenset({"running", "restarting", "failed", "stopping"}),
    "restarting": frozenset({"starting", "compiling", "failed", "stopping"}),
    "stopping": frozenset({"stopped", "starting", "compiling"}),
    "stopped": frozenset({"compiling"}),
    "failed": frozenset({"compiling", "stopping", "stopped"}),
    "unknown": frozenset({"running", "compiling", "restarting", "failed", "stopping", "starting"}),
}

__all__ = ["STATES", "TRANSITIONS", "Step", "Tools"]
