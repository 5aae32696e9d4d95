"""The wanted version is prepared beside the driver that runs, and then takes its checkpoint."""

from millrace_workers.launchers import JobSpec, Standby
from millrace_workers.model import Cause, Deployment, Failure, Run
from millrace_workers.outages import CODES, Away, is_full
from millrace_workers.states.compiling import refuse
from millrace_workers.states.tools import Tools
from millrace_workers.states.watching import control, fell_back, lost, not_started, reported

#: a driver that has not prepared itself within so long is given up
PREPARE_PATIENCE_SECONDS = 300.0
PREPARING = Cause(
    "standby_prepares", "The new driver is being prepared; the previous one continues."
)


def begin(deployment: Deployment, tools: Tools, spec: JobSpec) -> str | None:
    """Start the driver that is to take over; stop the other one first where that cannot be."""
    cold = tools.cold(deployment)
    if cold is not None:
        tools.record.step("stage", "done", cold)
        return "stopping"
    tools.reports.forget(spec.report_id)
    try:
        tools.launcher.start_standby(spec)
    except OSError as error:
        if is_full(error):
            raise
        return refuse(deployment, tools, "stage", not_started(error))
    tools.record.step("stage", "running", PREPARING)
    return None


def go_on(
    deployment: Deployment, tools: Tools, run: Run, spec: JobSpec, standby: Standby
) -> str | None:
    """Wait until the new driver is prepared; where it ends before, nothing was stopped for it."""
    if tools.launcher.poll(deployment.directory, run.process) is not None:
        # However the previous driver ended, there is nothing to wait for.
        tools.record.step("stage", "done")
        return "stopping"
    report = tools.reports.last_state(spec.report_id)
    if standby.ended is not None:
        tools.launcher.end_standby(deployment.id, deployment.directory)
        if standby.ended.exit_code == 0:
            return (
                None  # Nobody looked at it for long, or everything was ended: another is started.
            )
        cause = reported(report) or lost(standby.ended)
        if cause.code in CODES:
            tools.record.step("stage", "running", cause)
            raise Away(cause)
        return _refused(deployment, tools, run, cause)
    control(deployment)
    if standby.ready:
        tools.record.step("stage", "done")
        return "stopping"
    since = deployment.since if report is None else max(deployment.since, report.at)
    if tools.now() - since > PREPARE_PATIENCE_SECONDS:
        tools.launcher.end_standby(deployment.id, deployment.directory)
        seconds = f"{PREPARE_PATIENCE_SECONDS:.0f}"
        failure = Failure(
            "start_timeout",
            f"The new driver was not ready within {seconds} s.",
            facts={"seconds": seconds},
        )
        return _refused(deployment, tools, run, failure)
    return None


def _refused(deployment: Deployment, tools: Tools, run: Run, cause: Failure) -> str:
    message = (
        f"Version {deployment.version} ended before it took over: {cause.message} "
        f"Version {run.version} was not stopped."
    )
    kept = fell_back(message, deployment.version, run.version, cause)
    return refuse(deployment, tools, "stage", kept)
