"""The life cycle of a deployment: one module for each state, each with a function ``step``.

``step(deployment, tools)`` inspects the system once and returns the name of the deployment's next
state, or None to stay. It may be called again at any time, by any worker, after any crash, so it
inspects what is actually there and remembers nothing.
"""

from collections.abc import Callable

from millrace_workers.model import Deployment
from millrace_workers.outages import DISK_FULL, Away, after, is_full
from millrace_workers.states import (
    asleep,
    checking,
    compiling,
    degraded,
    failed,
    new,
    paused,
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
    "asleep": asleep.step,
    "restarting": restarting.step,
    "paused": paused.step,
    "degraded": degraded.step,
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
    "staging": frozenset({"starting", "compiling", "checking", "running", "failed", "stopping"}),
    "starting": frozenset(
        {"starting", "running", "asleep", "paused", "restarting", "failed", "stopping"}
    ),
    "running": frozenset(
        {"compiling", "staging", "starting", "asleep", "paused", "degraded"}
        | {"restarting", "failed", "stopping"}
    ),
    "asleep": frozenset(
        {"compiling", "staging", "starting", "running", "paused", "degraded"}
        | {"restarting", "failed", "stopping"}
    ),
    "paused": frozenset(
        {
            "running",
            "compiling",
            "staging",
            "starting",
            "degraded",
            "restarting",
            "failed",
            "stopping",
        }
    ),
    "degraded": frozenset(
        {"running", "asleep", "paused", "starting", "restarting", "failed", "stopping"}
    ),
    "restarting": frozenset({"starting", "compiling", "failed", "stopping"}),
    "stopping": frozenset({"stopped", "starting", "compiling"}),
    "stopped": frozenset({"compiling"}),
    "failed": frozenset({"compiling", "stopping", "stopped"}),
    "unknown": frozenset(
        {"running", "asleep", "paused", "compiling"}
        | {"restarting", "failed", "stopping", "starting"}
    ),
}


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Return the deployment's next state, or None to stay; record an outage and wait it out."""
    if deployment.waits(tools.now()):
        return None
    try:
        return STATES[deployment.observed](deployment, tools)
    except Away as away:
        reason = away
    except OSError as error:
        if not is_full(error):
            raise
        reason = Away(DISK_FULL)
    tools.record.outage(after(deployment.outage, reason, tools.now()))
    return None


__all__ = ["STATES", "TRANSITIONS", "Step", "Tools", "step"]
