"""What the end of a driver means, wherever it is noticed."""

from millrace_workers.launchers import Ended
from millrace_workers.model import Deployment, Failure
from millrace_workers.monitors import Report
from millrace_workers.states.tools import Tools

#: exit codes of a job that say that starting it again would end the same way:
#: 2 refused (the design, the checkpoint, an option), 3 stopped by a record
LASTING = frozenset({2, 3})


def after_end(
    deployment: Deployment, tools: Tools, ended: Ended, report: Report | None
) -> str | None:
    """Failed where the driver says that the fault lasts, else once more.

    A driver that was asked to stop, by the end of the whole system, has not crashed.
    """
    if ended.exit_code == 0:
        tools.record.end_run("stopped")
        return "restarting"
    failure = report.failure if report is not None and report.state == "failed" else None
    if failure is None:
        how = "was killed" if ended.exit_code in (None, -9) else f"ended with {ended.exit_code}"
        failure = Failure("driver_lost", f"The driver {how}; see its log.")
    lasting = ended.exit_code in LASTING
    tools.record.end_run("failed" if lasting else "crashed", failure)
    tools.record.fail(failure)
    return "failed" if lasting else "restarting"
