"""Stop the driver: ask, wait, then end it."""

from millrace_workers.model import Deployment
from millrace_workers.states.tools import Tools

DEADLINE_SECONDS = 20.0


def step(deployment: Deployment, tools: Tools) -> str | None:
    """Stopped once the driver is gone; on to the start where one is wanted."""
    run = deployment.run
    if run is not None:
        ended = tools.launcher.poll(deployment.directory, run.process)
        if ended is None:
            if tools.now() - deployment.since > DEADLINE_SECONDS:
                tools.launcher.kill(run.process)
            else:
                tools.launcher.ask_to_stop(run.process)
            return None
        tools.record.end_run("stopped" if ended.exit_code == 0 else "killed")
    tools.launcher.forget(deployment.id)
    if not deployment.wants_to_run:
        return "stopped"
    # Another version may be wanted since the stop began.
    staged = (deployment.job_directory / "job.py").exists()
    return "starting" if staged else "compiling"
