"""What the end of a driver means, wherever it is noticed."""

from millrace_workers.launchers import Ended
from millrace_workers.model import Deployment, Failure
from millrace_workers.monitors import Report
from millrace_workers.outages import CODES, Away, after
from millrace_workers.states.tools import Tools

#: exit codes of a job that say that starting it again would end the same way:
#: 2 refused (the design, the checkpoint, an option), 3 stopped by a record
LASTING = frozenset({2, 3})
#: the failure that stays to be seen while the version before runs again
FELL_BACK = "fell_back"


def arrived(deployment: Deployment, tools: Tools) -> bool:
    """Whether a version that took the place of another has done its first batch; notes it."""
    if deployment.fallback is not None and deployment.arrived:
        tools.record.arrived()
        return True
    return False


def fall_back(deployment: Deployment, tools: Tools, cause: Failure) -> str:
    """Start the version again that ran before, on the state that it left."""
    before = tools.record.fall_back()
    message = (
        f"Version {deployment.version} ended before its first batch: {cause.message} "
        f"Version {before} runs again from where it stopped."
    )
    tools.record.fail(Failure(FELL_BACK, message, cause.node, cause.parameter, cause.record))
    return "restarting"


def after_end(
    deployment: Deployment, tools: Tools, ended: Ended, report: Report | None
) -> str | None:
    """Failed if the driver reports a lasting fault, otherwise restart; an outage is no crash.

    A driver that was asked to stop, by the end of the whole system, has not crashed.
    """
    if ended.exit_code == 0:
        tools.record.end_run("stopped")
        return "restarting"
    failure = report.failure if report is not None and report.state == "failed" else None
    if failure is None:
        how = "was killed" if ended.exit_code in (None, -9) else f"ended with {ended.exit_code}"
        failure = Failure("driver_lost", f"The driver {how}; see its log.")
    if failure.code in CODES:
        tools.record.end_run("outage", failure)
        away = Away(failure.code, failure.message)
        tools.record.outage(after(deployment.outage, away, tools.now()))
        return "restarting"
    lasting = ended.exit_code in LASTING
    tools.record.end_run("failed" if lasting else "crashed", failure)
    if deployment.fallback is not None and not arrived(deployment, tools):
        return fall_back(deployment, tools, failure)
    tools.record.fail(failure)
    return "failed" if lasting else "restarting"
