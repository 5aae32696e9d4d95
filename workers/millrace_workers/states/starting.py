"""Start a driver, or find the one that a lost worker started, and wait until it runs."""

import json
import shutil
import socket
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from millrace_model.drivers import BeginRequest, DecidedRecord, DeploymentSettings

from millrace_workers.launchers import CheckpointInUse, JobSpec
from millrace_workers.model import Deployment, Failure, Follows, Process, plain_state
from millrace_workers.outages import Away, is_full
from millrace_workers.states.tools import Tools
from millrace_workers.states.watching import (
    FELL_BACK,
    LIVING,
    after_end,
    control,
    fall_back,
    not_started,
)

#: module that runs a program of the plain dialect unchanged
PLAIN_DRIVER = "millrace_runtime.plain.driving"
#: seconds without a report after which a starting driver is restarted
START_PATIENCE_SECONDS = 120.0


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Change to running as soon as the driver reports it."""
    if not deployment.wants_to_run:
        return "stopping"
    if deployment.run is None:
        return _start(deployment, tools)
    if deployment.run.version != deployment.version:
        return "stopping"
    report = tools.reports.last_state(deployment.run.report_id)
    ended = tools.launcher.poll(deployment.directory, deployment.run.process)
    if ended is not None:
        return after_end(deployment, tools, ended, report)
    control(deployment)
    if report is not None and report.state in LIVING:
        tools.record.step("start", "done")
        forget_old_jobs(deployment, tools.jobs_kept)
        if deployment.failure is None or deployment.failure["code"] != FELL_BACK:
            tools.record.clear_failure()
        return report.state
    if report is not None and report.detail is not None:
        tools.record.step("start", "running", report.detail)
    heard = deployment.since if report is None else max(deployment.since, report.at)
    if tools.now() - heard > START_PATIENCE_SECONDS:
        tools.launcher.kill(deployment.run.process)
        failure = Failure(
            "start_timeout",
            f"The driver did not report within {START_PATIENCE_SECONDS:.0f} s and was killed.",
            facts={"seconds": f"{START_PATIENCE_SECONDS:.0f}"},
        )
        tools.record.end_run("killed", failure)
        if deployment.fallback is not None:
            return fall_back(deployment, tools, failure)
        return "restarting"
    return None


def forget_old_jobs(deployment: Deployment, kept: int) -> None:
    """Delete staged versions, which can be staged again, except those in use and the newest."""
    used = {deployment.version, deployment.fallback}
    if deployment.run is not None:
        used.add(deployment.run.version)
    folder = deployment.job_directory.parent
    old = [
        path
        for path in folder.glob("v*")
        if path.is_dir() and path.name.split("-")[0] not in {f"v{version}" for version in used}
    ]
    old.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in old[kept:]:
        shutil.rmtree(path, ignore_errors=True)


def _start(deployment: Deployment, tools: Tools) -> str | None:
    tools.record.step("start", "running")
    process = tools.launcher.find(deployment.directory)
    spec = spec_of(deployment, tools) if process is not None else _next_spec(deployment, tools)
    if process is None:
        process = _adopted(deployment, tools, spec)
    if process is None:
        tools.reports.forget(spec.report_id)
        control(deployment)
        try:
            process = tools.launcher.start(spec)
        except CheckpointInUse as error:
            tools.record.step("start", "running", error.cause)
            raise Away(error.cause) from error
        except OSError as error:
            if is_full(error):
                raise
            failure = not_started(error)
            tools.record.step("start", "failed", failure)
            if deployment.fallback is not None:
                return fall_back(deployment, tools, failure)
            tools.record.fail(failure)
            return "failed"
    tools.record.begin_run(process, deployment.next_epoch, spec.report_id)
    return None


def _adopted(deployment: Deployment, tools: Tools, spec: JobSpec) -> Process | None:
    """Return the driver that was prepared for this start; end one that was prepared for another."""
    standby = tools.launcher.standby(deployment.directory)
    if standby is None:
        return None
    if standby.runs(spec):
        process = tools.launcher.adopt(deployment.id, deployment.directory)
        if process is not None:
            return process
    tools.launcher.end_standby(deployment.id, deployment.directory)
    return None


def spec_of(deployment: Deployment, tools: Tools) -> JobSpec:
    """Return how to start the next driver of a deployment."""
    report_id = deployment.next_report_id
    return JobSpec(
        deployment=deployment.id,
        job_directory=deployment.job_directory,
        checkpoint=deployment.checkpoint,
        log_file=deployment.log_file,
        report_id=report_id,
        host=tools.host(deployment),
        arguments=(
            *checkpoint_of(deployment),
            "--run",
            report_id,
            "--control",
            str(deployment.control),
            "--stores",
            str(deployment.stores_socket),
            *(["--continues"] if deployment.has_state else []),
            *tools.driver_arguments(deployment),
            *arguments_of(deployment.settings),
            *decisions_of(deployment.state_decisions),
            *beginning_of(deployment.beginning or plain_state.begin_of_exact(deployment.directory)),
            *records_of(deployment.record_decisions),
            *follows_of(deployment.follows),
        ),
        environment={
            # The address contains a password, and command lines are readable by all.
            "MILLRACE_REPORT": tools.reports.grant(report_id),
            "MILLRACE_DEPLOYMENT": str(deployment.id),
            "MILLRACE_HOST": socket.gethostname(),
        },
    )


def _next_spec(deployment: Deployment, tools: Tools) -> JobSpec:
    """Return how to start the next driver, and settle its checkpoint, which no driver is using."""
    if not deployment.plain:
        plain_state.enter_exact(deployment.directory, deployment.document)
        return spec_of(deployment, tools)
    state = json.loads((deployment.job_directory / "state.json").read_text(encoding="utf-8"))
    entered = plain_state.enter_plain(deployment.directory, state["identity"], deployment.beginning)
    begin = json.dumps(entered.begin, sort_keys=True)
    spec = spec_of(deployment, tools)
    return replace(
        spec,
        module=PLAIN_DRIVER,
        arguments=(
            *_plain_checkpoint(deployment, entered.folder),
            *(("--starting-offsets", begin) if entered.begin else ()),
            *("--run", spec.report_id),
            *("--control", str(deployment.control)),
            *tools.driver_arguments(deployment),
            *arguments_of(deployment.settings),
            *beginning_of(entered.request),
        ),
    )


def _plain_checkpoint(deployment: Deployment, folder: Path) -> tuple[str, ...]:
    if deployment.state_location is None:
        return ("--checkpoint", str(folder))
    place = folder.relative_to(deployment.directory).as_posix()
    return ("--checkpoint", f"{deployment.state_location}/{place}", "--notes", str(folder))


def checkpoint_of(deployment: Deployment) -> tuple[str, ...]:
    """Return the job's command line arguments for the location of its checkpoint."""
    folder = str(deployment.checkpoint)
    if deployment.state_location is None:
        return ("--checkpoint", folder)
    return ("--checkpoint", deployment.state_location, "--notes", folder)


def decisions_of(decisions: Mapping[str, str | dict[str, str]]) -> tuple[str, ...]:
    """Return the job's command line arguments for decisions about its stores."""
    texts = {
        store: what if isinstance(what, str) else f"convert:{what['convert']}"
        for store, what in decisions.items()
    }
    return tuple(f"--decide={store}={text}" for store, text in texts.items())


def beginning_of(beginning: BeginRequest | None) -> tuple[str, ...]:
    """Return the job's command line arguments for the requested beginning."""
    return () if beginning is None else (f"--begin={json.dumps(beginning, sort_keys=True)}",)


def follows_of(follows: Follows | None) -> tuple[str, ...]:
    """Return the job's command line arguments for the deployment that a shadow follows."""
    if follows is None:
        return ()
    begin = ("--copy-state",) if follows.copies_state else ("--start", "earliest")
    return ("--follow", str(follows.checkpoint), *begin)


def records_of(decisions: Iterable[DecidedRecord]) -> tuple[str, ...]:
    """Return the job's command line arguments for decisions about single records."""
    return tuple(
        f"--{each['decision'].replace('_', '-')}-record="
        f"{each['topic']}:{each['partition']}:{each['offset']}"
        for each in decisions
    )


def arguments_of(settings: DeploymentSettings) -> tuple[str, ...]:
    """Return the job's command line arguments for the deployment's settings."""
    found: list[str] = []
    if settings.get("real_time_ms"):
        found += ["--real-time", f"{settings['real_time_ms']} ms"]
    elif settings.get("trigger_ms") is not None:
        found += ["--trigger", f"{settings['trigger_ms']} milliseconds"]
    if settings.get("start"):
        found += ["--start", str(settings["start"])]
    if settings.get("lost_offsets"):
        found += ["--lost-offsets", str(settings["lost_offsets"])]
    if settings.get("memory_mb"):
        found += ["--spark-config", f"spark.driver.memory={settings['memory_mb']}m"]
    return tuple(found)
