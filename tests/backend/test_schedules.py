"""Times at which a deployment is started and stopped."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from accounts.models import AuditEntry
from deployments import actions, schedules
from deployments.models import Deployment, Observation, Schedule
from deployments.timetable import Times, next_change, runs_at
from django.utils import timezone

from .conftest import Client, People

WEEK: list[Times] = [{"days": [1, 2, 3, 4, 5], "start": "08:00", "stop": "18:00"}]
BERLIN = "Europe/Berlin"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def changes(times: list[Times], zone: str, after: str, count: int) -> list[tuple[str, str]]:
    """Return the next times of a schedule, in UTC, with what happens."""
    found, at = [], utc(after)
    for _ in range(count):
        change = next_change(times, zone, at)
        assert change is not None
        at = change[0]
        found.append((f"{at:%Y-%m-%d %H:%M}", change[1].value))
    return found


def test_working_days_end_on_friday_and_go_on_on_monday() -> None:
    # Thursday, 1 January 2026
    assert changes(WEEK, BERLIN, "2026-01-01 09:00", 4) == [
        ("2026-01-01 17:00", "stop"),
        ("2026-01-02 07:00", "start"),
        ("2026-01-02 17:00", "stop"),
        ("2026-01-05 07:00", "start"),
    ]
    assert runs_at(WEEK, BERLIN, utc("2026-01-01 07:00"))
    assert not runs_at(WEEK, BERLIN, utc("2026-01-01 17:00"))


def test_the_clock_of_the_zone_counts_when_it_is_changed() -> None:
    night: list[Times] = [{"days": [7], "start": "02:30", "stop": "04:00"}]
    # 02:30 does not exist on 29 March 2026 in Berlin.
    assert changes(night, BERLIN, "2026-03-28 12:00", 2) == [
        ("2026-03-29 01:30", "start"),
        ("2026-03-29 02:00", "stop"),
    ]
    assert changes(WEEK, BERLIN, "2026-03-27 12:00", 2) == [
        ("2026-03-27 17:00", "stop"),
        ("2026-03-30 06:00", "start"),
    ]


def test_times_may_end_on_the_next_day_and_touch_or_overlap() -> None:
    nights: list[Times] = [{"days": [5], "start": "22:00", "stop": "06:00"}]
    assert changes(nights, "UTC", "2026-01-03 01:00", 2) == [
        ("2026-01-03 06:00", "stop"),
        ("2026-01-09 22:00", "start"),
    ]
    touching: list[Times] = [
        {"days": [1], "start": "00:00", "stop": "00:00"},
        {"days": [2], "start": "00:00", "stop": "12:00"},
        {"days": [2], "start": "11:00", "stop": "13:00"},
    ]
    assert changes(touching, "UTC", "2026-01-04 12:00", 2) == [
        ("2026-01-05 00:00", "start"),
        ("2026-01-06 13:00", "stop"),
    ]
    always: list[Times] = [{"days": [1, 2, 3, 4, 5, 6, 7], "start": "00:00", "stop": "00:00"}]
    assert next_change(always, "UTC", utc("2026-01-04 12:00")) is None


def path_of(deployment: Deployment) -> str:
    return f"/api/deployments/{deployment.pk}/schedule"


def due(deployment: Deployment, *, running: bool) -> Schedule:
    """Let the next time of the schedule be now, at which the deployment is to run or not."""
    now = timezone.now()
    start, stop = (now - timedelta(hours=1), now + timedelta(hours=1))
    if not running:
        start, stop = stop, start
    schedule = Schedule.objects.get(deployment=deployment)
    schedule.times = [
        {"days": [1, 2, 3, 4, 5, 6, 7], "start": f"{start:%H:%M}", "stop": f"{stop:%H:%M}"}
    ]
    schedule.zone, schedule.next_at = "UTC", now
    schedule.save()
    return schedule


def test_a_schedule_is_shown_applied_and_removed(
    people: People, deployment: Deployment, client_of: Client
) -> None:
    client: Any = client_of(people.operator)
    made = client.put(path_of(deployment), {"times": WEEK, "zone": BERLIN}, format="json")
    shown = made.json()["schedule"]
    assert (shown["times"], shown["zone"], shown["set_by"]) == (WEEK, BERLIN, "Operator")
    assert shown["next_action"] in {"start", "stop"}
    assert datetime.fromisoformat(shown["next_at"]) > timezone.now()
    # Nothing happens before its time.
    schedules.apply_due()
    assert Deployment.objects.get().desired == "running"

    due(deployment, running=False)
    schedules.apply_due()
    row = Deployment.objects.get()
    assert row.desired == "stopped"
    entry = AuditEntry.objects.filter(action="deployment.stop").get()
    assert (entry.actor, entry.detail["scheduled"]) == (people.operator, True)
    # What a person does stays until the next time.
    actions.request_start(people.operator, row)
    schedules.apply_due()
    assert Deployment.objects.get().desired == "running"
    shown = client.get(f"/api/deployments/{deployment.pk}").json()["schedule"]
    assert (shown["last_action"], shown["failure"]) == ("stop", None)

    actions.request_stop(people.operator, row)
    due(deployment, running=True)
    schedules.apply_due()
    assert Deployment.objects.get().desired == "running"
    assert client.delete(path_of(deployment)).json()["schedule"] is None
    assert client.delete(path_of(deployment)).status_code == 404


def test_a_schedule_of_somebody_who_may_not_says_so_and_goes_on(
    people: People, deployment: Deployment, client_of: Client
) -> None:
    admin: Any = client_of(people.admin)
    schedules.set_schedule(people.operator, deployment, WEEK, BERLIN)
    due(deployment, running=False)
    people.operator.memberships.update(role="viewer")
    schedules.apply_due()
    assert Deployment.objects.get().desired == "running"
    shown = admin.get(f"/api/deployments/{deployment.pk}").json()["schedule"]
    assert shown["failure"]["code"] == "schedule_author_may_not"
    assert shown["failure"]["message"].startswith(people.operator.shown_name)
    assert datetime.fromisoformat(shown["next_at"]) > timezone.now()
    due(deployment, running=False)
    Schedule.objects.update(author=None)
    schedules.apply_due()
    failure = Schedule.objects.get().failure or {}
    assert failure["code"] == "schedule_without_author"


def test_what_is_shown_next_changes_what_a_person_did(
    people: People, deployment: Deployment, client_of: Client
) -> None:
    schedules.set_schedule(people.operator, deployment, WEEK, BERLIN)

    def shown(asked_for: str, at: str, action: str) -> tuple[str, str, bool]:
        Deployment.objects.update(desired=asked_for)
        Schedule.objects.update(next_at=utc(at), next_action=action)
        found = client_of(people.viewer).get(f"/api/deployments/{deployment.pk}").json()
        schedule = found["schedule"]
        return schedule["next_at"], schedule["next_action"], schedule["deviates"]

    thursday, evening, friday = "2026-01-01 07:00", "2026-01-01 17:00", "2026-01-02 07:00"
    assert shown("stopped", thursday, "start") == ("2026-01-01T07:00:00Z", "start", False)
    assert shown("running", thursday, "start") == ("2026-01-01T17:00:00Z", "stop", True)
    assert shown("running", evening, "stop") == ("2026-01-01T17:00:00Z", "stop", False)
    assert shown("stopped", evening, "stop") == ("2026-01-02T07:00:00Z", "start", True)
    # A start also restarts what failed.
    Observation.objects.update(failure={"code": "driver_lost"})
    assert shown("running", friday, "start") == ("2026-01-02T07:00:00Z", "start", False)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"times": WEEK, "zone": "Mars/Olympus"}, "zone"),
        ({"times": [], "zone": "UTC"}, "times"),
        ({"times": [{"days": [8], "start": "08:00", "stop": "09:00"}], "zone": "UTC"}, "times"),
        ({"times": [{"days": [1], "start": "24:00", "stop": "09:00"}], "zone": "UTC"}, "times"),
        (
            {"times": [{"days": [1, 2, 3, 4, 5, 6, 7], "start": "01:00", "stop": "01:00"}],
             "zone": "UTC"},
            "times",
        ),
    ],
)  # fmt: skip
def test_times_that_cannot_be_are_refused_by_field(
    people: People, deployment: Deployment, client_of: Client, body: Any, field: str
) -> None:
    refused = client_of(people.operator).put(path_of(deployment), body, format="json")
    assert refused.status_code == 400
    assert field in refused.json()["error"]["fields"]
    assert not Schedule.objects.exists()
