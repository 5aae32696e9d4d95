"""Checks of a running driver, and the consequences of its end, wherever it is noticed."""

from millrace_workers.launchers import Ended, NotStarted
from millrace_workers.model import Cause, Deployment, Failure
from millrace_workers.monitors import Pulse, StateReport
from millrace_workers.outages import CODES, Away, after
from millrace_workers.states.tools import Tools

#: exit codes of a job that would end the same way again: 2 refused (the design, the checkpoint, an
#: option), 3 stopped by a record
LASTING = frozenset({2, 3})
#: states that a living driver reports once it has started
LIVING = frozenset({"running", "asleep", "paused"})
#: seconds after which a running batch is degraded, unless the settings say otherwise
BATCH_DEADLINE_SECONDS = 600.0
#: seconds within which `CRASHES` ends of a driver are too many for another start
CRASH_SECONDS = 600.0
CRASHES = 8
TOOK_OVER = Cause("standby_took_over", "The standby took over.")
#: code of the failure that stays visible while the previous version runs again
FELL_BACK = "fell_back"


def control(deployment: Deployment) -> None:
    """Write the requested command into the driver's control file, or delete it. Safe to repeat."""
    word = "drain" if deployment.draining else "pause" if deployment.paused else None
    file = deployment.control
    if word is None:
        file.unlink(missing_ok=True)
    elif not file.exists() or file.read_text(encoding="utf-8") != word:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_name("control.new")
        partial.write_text(word, encoding="utf-8")
        partial.replace(file)


def trouble(deployment: Deployment, tools: Tools, pulse: Pulse | None) -> Failure | None:
    """Return what is wrong with a living driver: it is silent, or its batch does not end.

    Without a report, for example after Redis was replaced, nothing is known.
    """
    if pulse is None:
        return None
    # The clock may have been set in either direction; the next report has the new time.
    silent = abs(tools.now() - pulse.at)
    if silent > tools.silent_seconds:
        return Failure(
            "driver_silent",
            f"The driver has not reported for {silent:.0f} s.",
            facts={"seconds": f"{silent:.0f}"},
        )
    deadline = float(deployment.settings.get("batch_deadline_s") or BATCH_DEADLINE_SECONDS)
    deadline += float(deployment.settings.get("real_time_ms") or 0) / 1000
    if pulse.batch_seconds > deadline:
        return Failure(
            "batch_late",
            f"The batch has not ended for {pulse.batch_seconds:.0f} s; its deadline is "
            f"{deadline:.0f} s.",
            facts={"seconds": f"{pulse.batch_seconds:.0f}", "deadline": f"{deadline:.0f}"},
        )
    return None


def arrived(deployment: Deployment, tools: Tools) -> bool:
    """Record the first batch of the running version; return whether there was one to record."""
    if (deployment.fallback is not None or not deployment.has_state) and deployment.arrived:
        tools.record.arrived()
        return True
    return False


def fall_back(deployment: Deployment, tools: Tools, cause: Failure) -> str:
    """Request the previous version again, with the state that it left."""
    before = tools.record.fall_back()
    message = (
        f"Version {deployment.version} ended before its first batch: {cause.message} "
        f"Version {before} runs again from where it stopped."
    )
    tools.record.fail(fell_back(message, deployment.version, before, cause))
    return "restarting"


def fell_back(message: str, version: int, before: int | None, cause: Failure) -> Failure:
    """The failure of a version in whose place the previous one runs."""
    return Failure(
        FELL_BACK,
        message,
        cause.node,
        cause.parameter,
        cause.record,
        facts={"version": str(version), "before": str(before)},
        cause=cause,
    )


def reported(report: StateReport | None) -> Failure | None:
    """The failure that a driver reported when it ended."""
    return report.failure if report is not None and report.state == "failed" else None


def lost(ended: Ended) -> Failure:
    """The failure of a driver that ended without a report."""
    how = "was killed" if ended.exit_code in (None, -9) else f"ended with {ended.exit_code}"
    exit_code = -9 if ended.exit_code is None else ended.exit_code
    return Failure(
        "driver_lost", f"The driver {how}; see its log.", facts={"exit_code": str(exit_code)}
    )


def not_started(error: OSError) -> Failure:
    """The failure of a driver that could not be started."""
    if isinstance(error, NotStarted):
        return error.failure
    reason = str(error)
    return Failure(
        "start_failed", f"The driver could not be started: {reason}", facts={"reason": reason}
    )


def after_end(
    deployment: Deployment, tools: Tools, ended: Ended, report: StateReport | None
) -> str | None:
    """Restart, or fail if the driver reports a lasting fault; an outage is not a crash.

    A driver that exits with 0 was asked to stop, by the end of the whole system, and has not
    crashed.
    """
    if ended.exit_code == 0:
        tools.record.end_run("stopped")
        return "restarting"
    failure = reported(report) or lost(ended)
    if failure.code in CODES:
        tools.record.end_run("outage", failure)
        away = Away(failure)
        tools.record.outage(after(deployment.outage, away, tools.now()))
        return "restarting"
    lasting = ended.exit_code in LASTING
    tools.record.end_run("failed" if lasting else "crashed", failure)
    if deployment.fallback is not None and not arrived(deployment, tools):
        return fall_back(deployment, tools, failure)
    tools.record.fail(failure)
    if lasting:
        # The standby would stop at the same place.
        tools.launcher.end_standby(deployment.id, deployment.directory)
        return "failed"
    return take_over(deployment, tools)


def recent_crashes(deployment: Deployment, tools: Tools) -> int:
    """The number of lost drivers within `CRASH_SECONDS`."""
    return sum(tools.now() - at < CRASH_SECONDS for at in deployment.crashes)


def take_over(deployment: Deployment, tools: Tools) -> str:
    """Record the standby, which has taken the checkpoint of a lost driver by now, as the driver.

    Without one, or after too many losses, the driver is restarted as usual.
    """
    standby = tools.launcher.standby(deployment.directory)
    report_id = deployment.next_report_id
    if (
        standby is None
        or not standby.goes
        or report_id not in standby.arguments
        # This loss is not among them yet.
        or recent_crashes(deployment, tools) + 1 >= CRASHES
    ):
        return "restarting"
    process = tools.launcher.adopt(deployment.id, deployment.directory)
    if process is None:
        return "restarting"
    tools.record.step("start", "running", TOOK_OVER)
    tools.record.begin_run(process, deployment.next_epoch, report_id, standby=True)
    return "starting"
