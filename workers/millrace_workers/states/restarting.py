"""The driver was lost: wait a little longer each time, give up when it keeps happening."""

from millrace_workers.model import Cause, Deployment, Failure, Unanswered
from millrace_workers.outages import DISK_FULL, NEEDED_SPACE, Away
from millrace_workers.states.tools import Tools
from millrace_workers.states.watching import CRASH_SECONDS, CRASHES, recent_crashes

LONGEST_WAIT_SECONDS = 60.0


def wait_after(crashes: int) -> float:
    """Seconds before the next start: 0.5, 1, 2, 4 … 60."""
    return float(min(LONGEST_WAIT_SECONDS, 0.5 * 2 ** max(0, crashes - 1)))


def look_again(deployment: Deployment, tools: Tools) -> None:
    """Raise Away while the outage lasts; a new driver would need seconds to notice it."""
    try:
        tools.topics.ensure({}, create=False)
    except Unanswered as error:
        raise Away(error.cause) from error
    if tools.free_space(deployment.directory) < NEEDED_SPACE:
        raise Away(DISK_FULL)


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Start again after the wait; fail after too many crashes within a short time."""
    if not deployment.wants_to_run:
        return "stopping"
    recent = recent_crashes(deployment, tools)
    if recent >= CRASHES:
        tools.launcher.end_standby(deployment.id, deployment.directory)
        last = deployment.failure or {"code": "driver_failed", "message": "The driver was lost."}
        cause = Cause.of(last)
        minutes = f"{CRASH_SECONDS / 60:.0f}"
        tools.record.fail(
            Failure(
                "restart_limit",
                f"Lost {recent} times within {minutes} minutes. The last time: {cause.message}",
                last.get("node"),
                last.get("parameter"),
                facts={"count": str(recent), "minutes": minutes},
                cause=cause,
            )
        )
        return "failed"
    if deployment.outage is not None:
        look_again(deployment, tools)
    elif tools.now() - deployment.since < wait_after(recent):
        return None
    return "starting" if deployment.staged else "compiling"
