"""Times at which a deployment runs: it is started and stopped at them.

A schedule is applied when such a time comes, in the name of the person who set it. What people do
in between stays until the next time.
"""

from __future__ import annotations

from collections.abc import Sequence
from zoneinfo import available_timezones

import structlog
from accounts.choices import Role
from accounts.models import User
from accounts.permissions import require, role_in
from django.db import transaction
from django.utils import timezone
from millrace_backend.errors import ApiError, NotFound

from deployments import actions
from deployments.changing import ChangeByPerson
from deployments.choices import Desired, ScheduleAction
from deployments.models import Deployment, Schedule
from deployments.rows import bump
from deployments.shadows import refuse_shadow
from deployments.timetable import ScheduleFailure, Times, next_change, runs_at

log = structlog.get_logger(__name__)


def set_schedule(actor: User, row: Deployment, times: Sequence[Times], zone: str) -> None:
    """Set when a deployment runs (operator).

    Nothing is started or stopped now. Raises ApiError for an unknown time zone and for times that
    cover the whole week, Conflict for a shadow.
    """
    require(actor, row.workspace_id, Role.OPERATOR)
    refuse_shadow(row)
    if zone not in available_timezones():
        raise ApiError(
            "unknown_time_zone",
            f"There is no time zone {zone[:60]!r}.",
            "Send a name such as Europe/Berlin.",
            fields={"zone": ["There is no such time zone."]},
        )
    change = next_change(times, zone, timezone.now())
    if change is None:
        raise ApiError(
            "schedule_never_stops",
            "These times cover the whole week.",
            "Remove the schedule, and start the deployment.",
            fields={"times": ["They cover the whole week."]},
        )
    noted = {"zone": zone, "times": [dict(each) for each in times]}
    with ChangeByPerson(actor, row, "deployment.schedule", **noted):
        Schedule.objects.update_or_create(
            deployment=row,
            defaults={
                "times": list(times),
                "zone": zone,
                "author": actor,
                "next_at": change[0],
                "next_action": change[1],
                "failure": None,
            },
        )


def remove_schedule(actor: User, row: Deployment) -> None:
    """Remove the schedule of a deployment, which stays as it is. Raises NotFound without one."""
    with ChangeByPerson(actor, row, "deployment.unschedule"):
        deleted, _ = Schedule.objects.filter(deployment=row).delete()
        if not deleted:
            raise NotFound("no_schedule", "This deployment has no schedule.")


def apply_due() -> None:
    """Start and stop the deployments whose time has come."""
    for pk in Schedule.objects.filter(next_at__lte=timezone.now()).values_list("pk", flat=True):
        _apply(pk)


def _apply(pk: int) -> None:
    with transaction.atomic():
        # Only one worker applies it.
        found = Schedule.objects.select_for_update(skip_locked=True).filter(
            pk=pk, next_at__lte=timezone.now()
        )
        schedule = found.first()
        if schedule is None:
            return
        now = timezone.now()
        # After a pause of the system, what counts is the last time that has passed.
        runs = runs_at(schedule.times, schedule.zone, now)
        wanted = ScheduleAction.START if runs else ScheduleAction.STOP
        change = next_change(schedule.times, schedule.zone, now)
        schedule.next_at, schedule.next_action = change or (None, schedule.next_action)
        schedule.last_at, schedule.last_action, schedule.failure = now, wanted, None
        try:
            with transaction.atomic():
                _request(schedule, wanted)
        except ApiError as error:
            log.warning("schedule", deployment=schedule.deployment_id, code=error.code)
            failure: ScheduleFailure = {
                "code": error.code,
                "message": error.message,
                "hint": error.hint,
                "facts": {name: str(value) for name, value in error.data.items()},
            }
            schedule.failure = failure
        schedule.save()
        bump(schedule.deployment_id)


def _request(schedule: Schedule, wanted: ScheduleAction) -> None:
    row = Deployment.objects.select_related("topology", "observation").get(
        pk=schedule.deployment_id
    )
    if schedule.author is None:
        raise ApiError(
            "schedule_without_author",
            "The account that set the schedule was deleted.",
            "Set the schedule again.",
        )
    role = role_in(schedule.author, row.workspace_id)
    if role is None or not role.allows(Role.OPERATOR):
        name = schedule.author.shown_name
        raise ApiError(
            "schedule_author_may_not",
            f"{name}, who set the schedule, can no longer start and stop deployments here.",
            "Save the schedule again, to have it applied in your name.",
            name=name,
        )
    if wanted == ScheduleAction.STOP:
        if row.desired == Desired.RUNNING:
            actions.request_stop(schedule.author, row, scheduled=True)
    elif row.desired == Desired.STOPPED or row.observation.failure is not None:
        actions.request_start(schedule.author, row, scheduled=True)
