"""Keeps a second driver ready beside the running one, if the deployment's settings ask for it."""

from millrace_workers.model import Deployment
from millrace_workers.outages import is_full
from millrace_workers.states.starting import spec_of
from millrace_workers.states.tools import Tools

#: seconds before a standby that ended while it was prepared is started again
RETRY_SECONDS = 60.0


def keep(deployment: Deployment, tools: Tools) -> None:
    """Start a standby, or have the one that is ready wait for the checkpoint.

    A version that has not finished a batch yet has none: the version before is its replacement.
    """
    if not (deployment.settings.get("standby") and deployment.has_state) or deployment.fallback:
        return
    standby = tools.launcher.standby(deployment.directory)
    spec = spec_of(deployment, tools)
    if standby is not None and standby.runs(spec):
        if standby.ended is not None:
            if tools.now() - standby.ended_at < RETRY_SECONDS:
                return
        elif standby.ready and not standby.goes:
            tools.launcher.hand_over(deployment.directory)
            tools.record.standby_changed()
            return
        else:
            return
    if standby is not None:
        tools.launcher.end_standby(deployment.id, deployment.directory)
    if tools.cold(deployment) is None:
        tools.reports.forget(spec.report_id)
        try:
            tools.launcher.start_standby(spec)
        except OSError as error:
            if is_full(error):
                raise
            # The running driver is not concerned; the next step tries again.
            return
        tools.record.standby_changed()
