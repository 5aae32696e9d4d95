"""Prepares the requested version beside the running driver; then it takes over the checkpoint."""

from millrace_workers.launchers import JobSpec, Standby
from millrace_workers.model import Cause, Deployment, Failure, Run
from millrace_workers.outages import CODES, Away, is_full
from millrace_workers.states.compiling import refuse
from millrace_workers.states.tools import Tools
from millrace_workers.states.watching import control, fell_back, lost, not_started, reported

#: seconds without a report after which a standby that is not ready is given up
PREPARE_PATIENCE_SECONDS = 300.0
PREPARING = Cause(
    "standby_prepares", "The new driver is being prepared; the previous one continues."
)


def begin(deployment: Deployment, tools: Tools, spec: JobSpec) -> str | None:
    """Start a standby; if none can be prepared, stop the running driver first."""
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
    """Wait until the standby is ready; if it ends before, the running driver continues."""
    if tools.launcher.poll(deployment.directory, run.process) is not None:
        # The running driver has ended, for whatever reason: there is nothing to wait for.
        tools.record.step("stage", "done")
        return "stopping"
    report = tools.reports.last_state(spec.report_id)
    if standby.ended is not None:
        tools.launcher.end_standby(deployment.id, deployment.directory)
        if standby.ended.exit_code == 0:
            return (
                None  # It gave up waiting, or the whole system was stopped: another one is started.
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
