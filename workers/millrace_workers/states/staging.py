"""Stage the job and start its driver beside the running one, which is stopped only then."""

import shutil

from millrace_compiler.graphs.needs import topics_of, with_partitions

from millrace_workers.model import Deployment, Unanswered
from millrace_workers.states import handing_over
from millrace_workers.states.compiling import refuse
from millrace_workers.states.starting import spec_of
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Stage the code and start it: beside the running driver if possible, else after it."""
    if not deployment.wants_to_run:
        return "stopping"
    run = deployment.run
    same = run is not None and run.version == deployment.version
    if same and not deployment.restart_requested:
        # The change was canceled before anything stopped.
        tools.launcher.end_standby(deployment.id, deployment.directory)
        return "running"
    standby = tools.launcher.standby(deployment.directory)
    if run is not None and standby is not None:
        spec = spec_of(deployment, tools)
        if standby.runs(spec):
            return handing_over.go_on(deployment, tools, run, spec, standby)
        # Something else was requested since it was started.
        tools.launcher.end_standby(deployment.id, deployment.directory)
        return "compiling"
    tools.launcher.end_standby(deployment.id, deployment.directory)
    tools.record.step("stage", "running")
    # The code of the running driver is already staged.
    if not (same and deployment.staged):
        left = _write(deployment, tools)
        if left is not None:
            return left
    if run is not None:
        return handing_over.begin(deployment, tools, spec_of(deployment, tools))
    tools.record.step("stage", "done")
    return "starting"


def _write(deployment: Deployment, tools: Tools) -> str | None:
    """Stage the code of the requested version; return the next state if that is not possible."""
    target = deployment.job_directory
    fresh = target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    needed = {need.topic: need.partitions for need in topics_of(deployment.document)}
    try:
        found = tools.topics.ensure(needed, create=False)
    except Unanswered as error:
        tools.record.step("stage", "running", error.cause)
        return "checking"
    document = with_partitions(deployment.document, found)
    failure = tools.compiler.write(document, fresh, plain=deployment.plain)
    if failure is not None:
        shutil.rmtree(fresh, ignore_errors=True)
        return refuse(deployment, tools, "stage", failure)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    return None
