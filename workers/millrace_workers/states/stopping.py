"""Stop the driver: ask, wait, then kill it."""

from millrace_workers.model import Deployment
from millrace_workers.states.starting import spec_of
from millrace_workers.states.tools import Tools
from millrace_workers.states.watching import control

DEADLINE_SECONDS = 20.0


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Wait until the driver has ended; then start again if that is requested.

    A draining driver ends by itself, however long that takes; one that no longer responds is
    killed.
    """
    run = deployment.run
    _settle_standby(deployment, tools)
    if run is not None:
        ended = tools.launcher.poll(deployment.directory, run.process)
        if ended is None:
            if deployment.draining and not deployment.wants_to_run:
                control(deployment)
                pulse = tools.reports.pulse(run.report_id)
                if pulse is None or abs(tools.now() - pulse.at) <= tools.degraded_seconds:
                    return None
            if tools.now() - deployment.since > DEADLINE_SECONDS:
                tools.launcher.kill(run.process)
            else:
                tools.launcher.ask_to_stop(run.process)
            return None
        tools.record.end_run("stopped" if ended.exit_code == 0 else "killed")
    tools.launcher.forget(deployment.id)
    deployment.control.unlink(missing_ok=True)
    if not deployment.wants_to_run:
        return "stopped"
    # Another version may have been requested since the stop began.
    return "starting" if deployment.staged else "compiling"


def _settle_standby(deployment: Deployment, tools: Tools) -> None:
    """Have only the driver of the next run wait for the checkpoint's lock, if it is prepared."""
    if not deployment.wants_to_run:
        tools.launcher.end_standby(deployment.id, deployment.directory)
        return
    standby = tools.launcher.standby(deployment.directory)
    if standby is None:
        return
    if standby.runs(spec_of(deployment, tools)):
        tools.launcher.hand_over(deployment.directory)
    elif standby.goes:
        # It would take over from the version that is stopped.
        tools.launcher.end_standby(deployment.id, deployment.directory)
