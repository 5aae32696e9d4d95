"""Write the job beside the running one; only then the running one is stopped."""

import shutil

from millrace_compiler.needs import topics_of, with_partitions

from millrace_workers.model import Deployment
from millrace_workers.states.compiling import refuse
from millrace_workers.states.tools import Tools


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Stage the code, then start it, after stopping what still runs."""
    if not deployment.wants_to_run:
        return "stopping"
    tools.record.step("stage", "running")
    target = deployment.job_directory
    fresh = target.with_name(target.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    needed = {need.topic: need.partitions for need in topics_of(deployment.document)}
    try:
        found = tools.topics.ensure(needed, create=False)
    except ConnectionError as error:
        tools.record.step("stage", "running", str(error))
        return "checking"
    failure = tools.compiler.write(with_partitions(deployment.document, found), fresh)
    if failure is not None:
        shutil.rmtree(fresh, ignore_errors=True)
        return refuse(deployment, tools, "stage", failure)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)
    tools.record.step("stage", "done")
    return "starting" if deployment.run is None else "stopping"
