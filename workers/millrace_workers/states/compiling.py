"""Compile the requested version; if it is refused, the running job is not affected."""

from contextlib import suppress

from millrace_compiler.graphs.needs import topics_of, with_partitions

from millrace_workers.model import Deployment, Failure, Rejected, Unanswered
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
    failure = deployment.forbidden or _failure(deployment, tools)
    if failure is not None:
        return refuse(deployment, tools, "compile", failure)
    tools.record.step("compile", "done")
    return "checking"


def _failure(deployment: Deployment, tools: Tools) -> Failure | None:
    """Return why the document does not compile, regardless of the cluster.

    What is compiled is what the checks and staging need, which then need not compile it again: the
    document with the partitions that its topics have, or will have when they are created.
    """
    document = deployment.document
    needed = {need.topic: need.partitions for need in topics_of(document)}
    # Without the cluster, the checks wait for it.
    with suppress(Unanswered, Rejected):
        there = tools.topics.ensure(needed, create=False)
        document = with_partitions(document, needed | there)
    real_time, plain = deployment.real_time, deployment.plain
    if tools.compiler.check(document, real_time=real_time, plain=plain) is None:
        return None
    return tools.compiler.check(deployment.document, real_time=real_time, plain=plain)


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
