"""When a deployment with a schedule runs, and what the API shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import TypedDict
from zoneinfo import ZoneInfo

from deployments.choices import Desired, ScheduleAction
from deployments.models import Deployment

#: the smallest part of time by which a schedule differs
MOMENT = timedelta(microseconds=1)
#: days after which a schedule repeats, and one for times after midnight
DAYS = 8


class Times(TypedDict):
    """Times of some days: from ``start`` to ``stop``, which may be on the next day.

    ``days``: ISO numbers, 1 is Monday; ``start`` and ``stop``: HH:MM.
    """

    days: list[int]
    start: str
    stop: str


def runs_at(times: Sequence[Times], zone: str, at: datetime) -> bool:
    """Whether a deployment with these times runs at a moment."""
    return any(start <= at < stop for start, stop in _periods(times, zone, at))


def next_change(
    times: Sequence[Times], zone: str, after: datetime
) -> tuple[datetime, ScheduleAction] | None:
    """Return when the deployment is next started or stopped; None if it always runs."""
    moments = {moment for period in _periods(times, zone, after) for moment in period}
    for moment in sorted(moments):
        runs = runs_at(times, zone, moment)
        if moment > after and runs != runs_at(times, zone, moment - MOMENT):
            return moment, ScheduleAction.START if runs else ScheduleAction.STOP
    return None


def _periods(
    times: Sequence[Times], zone: str, around: datetime
) -> Iterator[tuple[datetime, datetime]]:
    """Yield the periods from the day before a moment to a week after it, in UTC."""
    place = ZoneInfo(zone)
    today = around.astimezone(place).date()
    for offset in range(-1, DAYS + 1):
        day = today + timedelta(days=offset)
        for each in times:
            if day.isoweekday() in each["days"]:
                overnight = each["stop"] <= each["start"]
                last = day + timedelta(days=1) if overnight else day
                yield _moment(day, each["start"], place), _moment(last, each["stop"], place)


def _moment(day: date, at: str, place: ZoneInfo) -> datetime:
    return datetime.combine(day, time.fromisoformat(at), place).astimezone(UTC)


class ScheduleFailure(TypedDict):
    """Why a time passed without effect: the parts of an error of the API."""

    code: str
    message: str
    hint: str
    facts: dict[str, str]


class ScheduleJson(TypedDict):
    """A schedule as the API shows it.

    ``next_at`` is the next time that changes something. ``deviates``: a person started the
    deployment outside its times, or stopped it within them.
    """

    times: list[Times]
    zone: str
    set_by: str | None
    next_at: datetime | None
    next_action: str
    deviates: bool
    last_at: datetime | None
    last_action: str | None
    failure: ScheduleFailure | None


def schedule_of(row: Deployment) -> ScheduleJson | None:
    """Return the schedule of a deployment that was loaded with it."""
    schedule = getattr(row, "schedule", None)
    if schedule is None:
        return None
    deviates = schedule.next_action == _asked_for(row)
    change = schedule.next_at, schedule.next_action
    if deviates and schedule.next_at is not None:
        change = next_change(schedule.times, schedule.zone, schedule.next_at) or change
    return {
        "times": schedule.times,
        "zone": schedule.zone,
        "set_by": None if schedule.author is None else schedule.author.shown_name,
        "next_at": change[0],
        "next_action": change[1],
        "deviates": deviates,
        "last_at": schedule.last_at,
        "last_action": schedule.last_action or None,
        "failure": schedule.failure,
    }


def _asked_for(row: Deployment) -> ScheduleAction | None:
    """Return what people or the schedule have asked for; None for a deployment that failed."""
    if row.desired == Desired.STOPPED:
        return ScheduleAction.STOP
    return ScheduleAction.START if row.observation.failure is None else None
