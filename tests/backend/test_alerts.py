"""Alerts: when they fire and are resolved, and that receivers are notified once."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from accounts.models import AuditEntry
from deployments import reconciling
from deployments.models import Deployment, Observation
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone
from millrace_backend import environment
from monitoring import alerting, notifying, recording, webhooks
from monitoring.choices import Condition, DeliveryState
from monitoring.models import Alert, AlertRule, Delivery
from topologies.models import Topology

from .conftest import Client, People
from .receiving import Hook, MailServer, serving
from .test_figures import NOON, lagging
from .test_runtime import latency, progress

LOCAL = (ipaddress.ip_network("127.0.0.1/32"),)


@pytest.fixture
def hook(millrace_settings: Any) -> Iterator[Hook]:
    """A webhook server in a permitted network."""
    millrace_settings.MILLRACE_WEBHOOK_NETWORKS = LOCAL
    with serving(Hook()) as found:
        yield found


@pytest.fixture
def mails(millrace_settings: Any) -> Iterator[MailServer]:
    """A mail server that the backend is configured to use."""
    with serving(MailServer()) as found:
        millrace_settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        millrace_settings.EMAIL_HOST = "127.0.0.1"
        millrace_settings.EMAIL_PORT = found.server_address[1]
        millrace_settings.MILLRACE_MAIL = True
        yield found


def rule_for(deployment: Deployment, condition: Condition, **more: Any) -> AlertRule:
    return AlertRule.objects.create(
        workspace=deployment.workspace, name="Too late", condition=condition, **more
    )


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(NOON + seconds, UTC)


def tell(deployment: Deployment, seconds: float, records: int = 5, **more: Any) -> None:
    """Record a report from `seconds` after noon, and evaluate the rules at that moment."""
    event = progress(int((NOON + seconds) * 1000), records, **more)
    recording.record(deployment, "1-1", event)
    alerting.check_all(at(seconds))


def states() -> list[tuple[bool, bool]]:
    """Whether each alert fired and whether it was resolved, oldest first."""
    rows = Alert.objects.order_by("id")
    return [(row.fired_at is not None, row.resolved_at is not None) for row in rows]


def deliver_all() -> None:
    for each in notifying.due():
        notifying.deliver(each)


def test_an_alert_fires_once_after_its_duration_and_is_resolved_once(
    deployment: Deployment, hook: Hook, mails: MailServer
) -> None:
    rule = rule_for(
        deployment,
        Condition.LAG,
        threshold=10,
        for_seconds=20,
        webhook=hook.url,
        mail=["ops@example.org"],
    )
    for seconds, lag in ((0, 5), (10, 50), (20, 60)):
        tell(deployment, seconds, **lagging(lag, 100))
    assert states() == [(False, False)]
    deliver_all()
    assert hook.received == []
    for seconds in (30, 40, 50):
        tell(deployment, seconds, **lagging(70, 200))
        deliver_all()
    assert states() == [(True, False)]
    for seconds in (60, 70):
        tell(deployment, seconds, **lagging(0, 200))
        deliver_all()
    assert states() == [(True, True)]
    fired, resolved = hook.received
    assert (fired["path"], fired["type"]) == ("/hook?a=b", "application/json")
    assert fired["body"]["event"] == "fired"
    assert fired["body"]["value"] == 70.0
    assert fired["body"]["rule"] == {
        "id": rule.pk,
        "name": "Too late",
        "condition": "lag",
        "threshold": 10.0,
        "for_seconds": 20,
    }
    assert fired["body"]["deployment"] == {"id": deployment.pk, "topology": "Orders"}
    assert fired["body"]["url"].endswith(f"/w/main/t/{deployment.topology_id}")
    assert fired["body"]["fired_at"] == at(30).isoformat()
    assert (resolved["body"]["event"], resolved["body"]["resolved_at"]) == (
        "resolved",
        at(60).isoformat(),
    )
    assert [receivers for receivers, _ in mails.mails] == [["ops@example.org"]] * 2
    assert "Subject: Firing: Too late" in mails.mails[0][1].replace("=?utf-8?q?", "").replace(
        "=3A", ":"
    ).replace("_", " ")
    assert "above 10 records. Last value: 70 records." in mails.mails[0][1]
    tell(deployment, 80, **lagging(50, 300))
    tell(deployment, 100, **lagging(50, 300))
    assert states() == [(True, True), (True, False)], "the next incident is another alert"


def test_what_holds_too_short_is_never_heard_of(deployment: Deployment, hook: Hook) -> None:
    rule_for(deployment, Condition.LAG, threshold=10, for_seconds=20, webhook=hook.url)
    for seconds, lag in ((0, 50), (10, 50), (20, 0), (30, 50), (40, 50)):
        tell(deployment, seconds, **lagging(lag))
    assert states() == [(False, False)]
    assert not Delivery.objects.exists()


def dropping(count: int, letters: int = 0) -> dict[str, Any]:
    node = {"in": 5, "out": 5, "dropped": {"late": count}, "dead_letters": letters}
    return {"nodes": {"words": node}}


def warning(count: int) -> dict[str, Any]:
    """Report records that rules reject: only those with a warning are an alert's."""
    misses = {"warned": count, "rejected": 10 * count, "no_match": 10 * count}
    return {"nodes": {"words": {**dropping(0)["nodes"]["words"], "misses": misses}}}


def slow(p99: int | None) -> dict[str, Any]:
    """Report a p99 latency since the record's timestamp; since arrival it is a tenth of that."""
    node = {"in": 5, "out": 5, "dropped": {}, "dead_letters": 0, "latency": latency(5, p99)}
    return {"nodes": {"words": node}}


@pytest.mark.parametrize(
    ("condition", "threshold", "calm", "loud"),
    [
        (Condition.LAG, 10, lagging(10), lagging(11)),
        (Condition.LAG_TIME, 15, lagging(0), lagging(20)),
        (Condition.DROPPED, 5, dropping(40), dropping(200)),
        (Condition.DEAD_LETTERS, 5, dropping(0, 40), dropping(0, 200)),
        (Condition.REJECTED, 5, warning(40), warning(200)),
        (Condition.LATENCY, 2, slow(2_000), slow(2_001)),
        (Condition.ARRIVAL_LATENCY, 2, slow(20_000), slow(20_010)),
        (Condition.BATCH_DURATION, 2, {"duration_ms": 2_000}, {"duration_ms": 2_001}),
    ],
)
def test_each_figure_fires_above_its_threshold_and_not_at_it(
    deployment: Deployment,
    condition: Condition,
    threshold: float,
    calm: dict[str, Any],
    loud: dict[str, Any],
) -> None:
    rule_for(deployment, condition, threshold=threshold)
    rates = condition in {Condition.DROPPED, Condition.DEAD_LETTERS, Condition.REJECTED}
    start = {**dropping(0), **warning(0)} if rates else calm
    for seconds, more in ((0, start), (10, calm)):
        tell(deployment, seconds, **more)
    assert states() == []
    for seconds in (20, 30):
        tell(deployment, seconds, **loud)
    assert [fired for fired, _ in states()] == [True]


def test_without_records_a_latency_is_not_known_and_resolves_nothing(
    deployment: Deployment,
) -> None:
    rule_for(deployment, Condition.LATENCY, threshold=2)
    for seconds, p99 in ((0, 9_000), (10, None), (20, None)):
        tell(deployment, seconds, **slow(p99))
    assert states() == [(True, False)]
    tell(deployment, 30, **slow(1_000))
    assert states() == [(True, True)]


def test_silence_is_counted_from_the_last_record(deployment: Deployment) -> None:
    rule_for(deployment, Condition.SILENCE, threshold=25)
    for seconds, records in ((0, 5), (10, 9), (20, 9), (30, 9)):
        tell(deployment, seconds, **with_records(records))
    assert states() == []
    tell(deployment, 40, **with_records(9))
    assert states() == [(True, False)]
    tell(deployment, 50, **with_records(10))
    assert states() == [(True, True)]


def with_records(records: int) -> dict[str, Any]:
    return {"tasks": [{**progress(0, records)["tasks"][0]}]}


def test_states_fire_and_a_deployment_without_reports_is_left_as_it_is(
    deployment: Deployment,
) -> None:
    for condition in (Condition.FAILED, Condition.UNKNOWN, Condition.DEGRADED):
        rule_for(deployment, condition)
    rule_for(deployment, Condition.LAG, threshold=10)
    tell(deployment, 0, **lagging(50))

    def firing(seconds: float) -> list[str]:
        alerting.check_all(at(seconds))
        rows = Alert.objects.filter(resolved_at__isnull=True, fired_at__isnull=False)
        return sorted(row.rule.condition for row in rows)

    assert firing(1) == ["lag"]
    reconciling.observe(deployment.pk, "unknown")
    assert firing(100) == ["lag", "unknown"], "no report: the lag is not known"
    reconciling.observe(deployment.pk, "restarting")
    assert firing(110) == ["degraded", "lag"]
    Observation.objects.filter(deployment=deployment).update(state="running", outage={"code": "x"})
    assert firing(120) == ["degraded", "lag"]
    Observation.objects.filter(deployment=deployment).update(state="degraded", outage=None)
    assert firing(125) == ["degraded", "lag"]
    Observation.objects.filter(deployment=deployment).update(state="failed", outage=None)
    assert firing(130) == ["failed"], "nothing lags that does not run"
    reconciling.observe(deployment.pk, "paused")
    assert firing(135) == []
    Deployment.objects.filter(pk=deployment.pk).update(desired="stopped")
    reconciling.observe(deployment.pk, "stopped")
    assert firing(140) == []


def test_a_rule_of_one_topology_and_a_rule_that_is_off(
    deployment: Deployment, topology: Topology
) -> None:
    other = Topology.objects.create(
        workspace=topology.workspace, name="Other", updated_at=timezone.now()
    )
    rule_for(deployment, Condition.LAG, threshold=10, topology=other)
    rule_for(deployment, Condition.LAG, threshold=10, enabled=False)
    mine = rule_for(deployment, Condition.LAG, threshold=10, topology=topology)
    tell(deployment, 0, **lagging(50))
    assert [row.rule_id for row in Alert.objects.all()] == [mine.pk]
    AlertRule.objects.filter(pk=mine.pk).update(enabled=False)
    alerting.check_all(at(5))
    assert states() == [(True, True)]


def test_a_notification_is_tried_again_and_given_up_in_the_end(
    deployment: Deployment, hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule_for(deployment, Condition.FAILED, webhook=hook.url)
    Observation.objects.filter(deployment=deployment).update(state="failed")
    hook.statuses = [500, 302, 204]
    alerting.check_all()
    found = []
    for _ in range(3):
        deliver_all()
        row = Delivery.objects.get()
        found.append((row.state, row.attempts, row.error))
        deliver_all()
        Delivery.objects.update(due_at=timezone.now())
    assert found == [
        ("waiting", 1, "127.0.0.1 responded with 500 Internal Server Error."),
        ("waiting", 2, "127.0.0.1 responded with 302 Found."),
        ("sent", 3, ""),
    ]
    assert len(hook.received) == 3, "no redirect is followed, and nothing is sent twice"
    hook.statuses = [503]
    Delivery.objects.update(state=DeliveryState.WAITING, attempts=0)
    for _ in range(10):
        Delivery.objects.update(due_at=timezone.now())
        deliver_all()
    row = Delivery.objects.get()
    assert (row.state, row.attempts) == ("failed", 1 + len(notifying.RETRIES))


def test_names_with_line_breaks_that_are_stored_already_silence_no_mail(
    deployment: Deployment, mails: MailServer
) -> None:
    rule = rule_for(deployment, Condition.FAILED, mail=["ops@example.org"])
    for number, broken in enumerate("\r\n\x0b\x0c\x1c\x85\u2028\u2029", 1):
        AlertRule.objects.filter(pk=rule.pk).update(name=f"Too{broken}Bcc: x@example.org")
        Topology.objects.filter(pk=deployment.topology_id).update(name=f"Or{broken}ders")
        alert = Alert.objects.create(
            rule=rule, deployment=deployment, since=at(0), fired_at=at(0), resolved_at=at(1)
        )
        alert.deliveries.create(event="fired", channel="mail", target="ops@example.org")
        deliver_all()
        assert len(mails.mails) == number, repr(broken)
        receivers, text = mails.mails[-1]
        assert receivers == ["ops@example.org"]
        lines = text.split("\n\n")[0].splitlines()
        assert not [line for line in lines if line.startswith("Bcc")]
    assert not Delivery.objects.exclude(state=DeliveryState.SENT).exists()


def test_an_answer_that_trickles_is_given_up_at_the_deadline(hook: Hook) -> None:
    hook.slow = 0.1
    began = time.monotonic()
    with pytest.raises(webhooks.Undeliverable, match="did not respond within 1 seconds"):
        webhooks.post(hook.url, {}, LOCAL, deadline=1)
    assert time.monotonic() - began < 10


def test_nothing_is_sent_into_the_private_network(hook: Hook, millrace_settings: Any) -> None:
    port = hook.server_address[1]
    for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"):
        with pytest.raises(webhooks.Undeliverable, match=r"private network|not known"):
            webhooks.post(f"http://{host}:{port}/", {}, ())
    assert hook.received == []
    webhooks.post(hook.url, {"a": 1}, LOCAL)
    assert [each["body"] for each in hook.received] == [{"a": 1}]


def test_rules_by_the_api(
    deployment: Deployment, people: People, client_of: Client, hook: Hook, mails: MailServer
) -> None:
    client = client_of(people.operator)
    path = "/api/workspaces/main/alert-rules"
    values = {
        "name": "Behind",
        "topology": deployment.topology_id,
        "condition": "lag_time",
        "threshold": 30,
        "for_seconds": 60,
        "webhook": hook.url,
        "mail": ["a@example.org", mails.refused],
    }
    made: Any = client.post(path, values)
    assert made.status_code == 201, made.content
    rule = made.json()
    assert {name: rule[name] for name in values} == values
    assert (rule["enabled"], rule["topology_name"]) == (True, "Orders")
    tested: Any = client.post(f"/api/alert-rules/{rule['id']}/test").json()
    assert [(each["channel"], each["error"] is None) for each in tested] == [
        ("webhook", True),
        ("mail", True),
        ("mail", False),
    ]
    assert "no such mailbox" in tested[2]["error"]
    assert hook.received[0]["body"]["event"] == "test"
    changed: Any = client.put(
        f"/api/alert-rules/{rule['id']}", {"name": "Off", "condition": "failed", "enabled": False}
    )
    assert changed.status_code == 200
    assert {name: changed.json()[name] for name in ("name", "threshold", "topology", "mail")} == {
        "name": "Off",
        "threshold": None,
        "topology": None,
        "mail": [],
    }
    again = client.put(f"/api/alert-rules/{rule['id']}", {**values, "webhook": f"{hook.url}&c=d"})
    assert again.json()["webhook"] == f"{hook.url}&c=d"
    assert client.get(path).json()["results"][0]["webhook"] == f"{hook.url}&c=d"
    host = hook.url.partition("/hook")[0]
    for person in (people.viewer, people.editor):
        seen: Any = client_of(person).get(path).json()["results"][0]
        assert seen["webhook"] == f"{host}/…", "the rest may be a secret"
    assert client.get(path).json()["count"] == 1
    assert client.get(f"{path}?search=nothing").json()["count"] == 0
    assert client.delete(f"/api/alert-rules/{rule['id']}").status_code == 204
    actions = AuditEntry.objects.filter(subject="alert_rule").order_by("id")
    assert list(actions.values_list("action", flat=True)) == [
        f"alert_rule.{each}" for each in ("create", "test", "change", "change", "delete")
    ]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"condition": "lag"}, "threshold"),
        ({"condition": "lag", "threshold": -1}, "threshold"),
        ({"condition": "nothing"}, "condition"),
        ({"condition": "failed", "webhook": "file:///etc/passwd"}, "webhook"),
        ({"condition": "failed", "webhook": "http://user:secret@example.org/"}, "webhook"),
        ({"condition": "failed", "webhook": "http:///path"}, "webhook"),
        ({"condition": "failed", "webhook": "http://a:99999/"}, "webhook"),
        ({"condition": "failed", "webhook": "http://a/ b\r\nX: y"}, "webhook"),
        ({"condition": "failed", "webhook": "http://127.0.0.1:8000/hook"}, "webhook"),
        ({"condition": "failed", "webhook": "https://localhost/hook"}, "webhook"),
        ({"condition": "failed", "webhook": "http://[::1]/"}, "webhook"),
        ({"condition": "failed", "webhook": "http://169.254.169.254/latest"}, "webhook"),
        ({"condition": "failed", "mail": ["nobody"]}, "mail"),
        ({"condition": "failed", "mail": ["a@example.org"] * 11}, "mail"),
        ({"condition": "failed", "for_seconds": 10**9}, "for_seconds"),
        ({"condition": "failed", "topology": 10**9}, "topology"),
    ],
)
def test_rules_that_cannot_be_are_refused_at_their_field(
    values: dict[str, Any], field: str, people: People, client_of: Client
) -> None:
    answer: Any = client_of(people.operator).post(
        "/api/workspaces/main/alert-rules", {"name": "R", **values}
    )
    assert answer.status_code in {400, 404}, answer.content
    assert field in answer.json()["error"]["fields"]
    assert not AlertRule.objects.exists()


def test_a_webhook_is_checked_when_it_is_saved_and_again_when_it_is_sent(
    deployment: Deployment, people: People, client_of: Client, millrace_settings: Any
) -> None:
    client: Any = client_of(people.operator)
    path = "/api/workspaces/main/alert-rules"
    values = {"name": "R", "condition": "failed", "webhook": "http://127.0.0.1:1/"}
    refused = client.post(path, values).json()["error"]
    assert "an address in a private network" in refused["fields"]["webhook"][0]
    assert "MILLRACE_WEBHOOK_NETWORKS" in refused["fields"]["webhook"][0]
    later = client.post(path, {**values, "webhook": "https://later.invalid/"})
    assert later.status_code == 201, "a name may be resolved later"
    # The network was permitted when the rule was saved, and is no longer.
    millrace_settings.MILLRACE_WEBHOOK_NETWORKS = LOCAL
    assert client.post(path, values).status_code == 201
    millrace_settings.MILLRACE_WEBHOOK_NETWORKS = ()
    Observation.objects.filter(deployment=deployment).update(state="failed")
    alerting.check_all()
    deliver_all()
    found = client.get("/api/workspaces/main/alerts").json()["results"]
    errors = {each["error"] for alert in found for each in alert["deliveries"]}
    assert len(errors) == 2
    assert any("127.0.0.1 is an address in a private network" in each for each in errors)
    assert any("later.invalid cannot be resolved" in each for each in errors)


def test_alerts_are_listed_by_page_with_their_notifications(
    deployment: Deployment, people: People, client_of: Client
) -> None:
    rules = [
        rule_for(deployment, Condition.FAILED, webhook="http://127.0.0.1:1/") for _ in range(3)
    ]
    Observation.objects.filter(deployment=deployment).update(state="failed")
    alerting.check_all()
    AlertRule.objects.filter(pk=rules[0].pk).update(enabled=False)
    alerting.check_all()
    deliver_all()
    client = client_of(people.viewer)
    path = "/api/workspaces/main/alerts"
    assert client.get(path).json()["count"] == 3
    firing: Any = client.get(f"{path}?state=firing&page_size=1").json()
    assert (firing["count"], len(firing["results"])) == (2, 1)
    (alert,) = firing["results"]
    assert (alert["state"], alert["topology_name"], alert["condition"]) == (
        "firing",
        "Orders",
        "failed",
    )
    (delivery,) = alert["deliveries"]
    assert delivery["target"] == "http://127.0.0.1:1/…"
    assert (delivery["state"], delivery["attempts"]) == ("waiting", 1)
    assert "MILLRACE_WEBHOOK_NETWORKS" in delivery["error"]
    resolved: Any = client.get(f"{path}?state=resolved").json()["results"]
    assert [each["event"] for each in resolved[0]["deliveries"]] == ["fired", "resolved"]
    assert client.get(f"{path}?topology={deployment.topology_id}").json()["count"] == 3
    assert client.get(f"{path}?topology=0").json()["count"] == 0
    assert client.get(f"{path}?state=loud").status_code == 400


def test_old_alerts_of_a_rule_are_forgotten(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerting, "MOST_ALERTS", 2)
    rule_for(deployment, Condition.LAG, threshold=10)
    for number in range(12):
        tell(deployment, number * 10, **lagging(50 if number % 2 else 0))
    assert 2 <= Alert.objects.count() <= 3


def test_an_alert_begins_to_hold_no_later_than_it_is_seen(deployment: Deployment) -> None:
    rule_for(deployment, Condition.LAG, threshold=10)
    tell(deployment, 3, **lagging(50))
    alert = Alert.objects.get()
    assert alert.since == alert.fired_at == at(3)
    assert alert.value == 50.0
    alerting.check_all(at(3) + timedelta(seconds=1))
    assert Alert.objects.count() == 1


def test_mails_need_a_server(deployment: Deployment, millrace_settings: Any) -> None:
    rule = rule_for(deployment, Condition.FAILED, mail=["a@example.org"])
    millrace_settings.MILLRACE_MAIL = False
    (found,) = notifying.test(rule)
    assert found["error"] == "No mail server is configured: set MILLRACE_SMTP_URL."
    server = environment.mail_server("smtp+starttls://me:p%40ss@mail.example.org")
    assert (server.port, server.user, server.password) == (587, "me", "p@ss")
    for wrong in ("http://mail", "smtp://", "smtp://a:x"):
        with pytest.raises(ImproperlyConfigured, match="MILLRACE_SMTP_URL"):
            environment.mail_server(wrong)
    with pytest.raises(ImproperlyConfigured, match="MILLRACE_WEBHOOK_NETWORKS has 'x'"):
        environment.read({"MILLRACE_WEBHOOK_NETWORKS": "x"})
