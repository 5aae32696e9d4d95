"""Compile the requested version; if it is refused, the running job is not affected."""

from millrace_workers.model import Deployment, Failure
from millrace_workers.outages import CODES, Away
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Continue with the checks, or refuse the version."""
    if not deployment.wants_to_run:
        return "stopping"
    run = deployment.run
    if run is not None and run.version == deployment.version and not deployment.restart_requested:
        # The change was canceled before anything stopped.
        return "running"
    tools.record.step("compile", "running")
    failure = deployment.forbidden or tools.compiler.check(
        deployment.document, real_time=deployment.real_time, plain=deployment.plain
    )
    if failure is not None:
        return refuse(deployment, tools, "compile", failure)
    tools.record.step("compile", "done")
    return "checking"


def refuse(deployment: Deployment, tools: Tools, name: str, failure: Failure) -> str:
    """Record the failure at its step; the running version continues.

    Raises Away for an outage, which is unrelated to the document.
    """
    if failure.code in CODES:
        tools.record.step(name, "running", failure)
        raise Away(failure)
    tools.record.step(name, "failed", failure)
    tools.record.fail(failure)
    if deployment.run is None:
        return "failed"
    tools.record.keep_version(deployment.run.version)
    return "running"
