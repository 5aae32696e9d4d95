"""Content of notifications, and sending them."""

from __future__ import annotations

import smtplib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TypedDict

import structlog
from deployments.models import Deployment
from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import F
from django.utils import timezone
from millrace_backend.names import one_line

from monitoring.choices import AlertEvent, Channel, Condition, DeliveryState
from monitoring.models import Alert, AlertRule, Delivery
from monitoring.webhooks import Undeliverable, post

log = structlog.get_logger(__name__)

#: seconds before each retry
RETRIES = (10, 60, 300)
#: seconds for which a worker that died while sending blocks a notification
CLAIM_SECONDS = 60
#: maximum number of notifications to send at a time
MOST_AT_ONCE = 10

_UNITS: Mapping[Condition, str] = {
    Condition.LAG: "records",
    Condition.LAG_TIME: "s",
    Condition.LATENCY: "s",
    Condition.ARRIVAL_LATENCY: "s",
    Condition.DROPPED: "records/s",
    Condition.DEAD_LETTERS: "records/s",
    Condition.BATCH_DURATION: "s",
    Condition.SILENCE: "s",
}


class NotifiedRule(TypedDict):
    """A rule as a notification has it."""

    id: int
    name: str
    condition: str
    threshold: float | None
    for_seconds: int


class NotifiedDeployment(TypedDict):
    """A deployment as a notification has it."""

    id: int
    topology: str


class Notification(TypedDict):
    """What a webhook receives; mails have its title, message and url."""

    event: str
    title: str
    message: str
    alert: int | None
    rule: NotifiedRule
    workspace: str
    deployment: NotifiedDeployment | None
    value: float | None
    fired_at: str | None
    resolved_at: str | None
    url: str


class TestedReceiver(TypedDict):
    """Whether a test reached a receiver."""

    channel: str
    target: str
    error: str | None


def due() -> list[int]:
    """Return the ids of notifications to send now, oldest first, at most MOST_AT_ONCE."""
    waiting = Delivery.objects.filter(state=DeliveryState.WAITING, due_at__lte=timezone.now())
    return list(waiting.order_by("due_at").values_list("pk", flat=True)[:MOST_AT_ONCE])


def deliver(delivery: int) -> None:
    """Send a notification, unless it is not due or another worker is sending it."""
    now = timezone.now()
    claimed = Delivery.objects.filter(
        pk=delivery, state=DeliveryState.WAITING, due_at__lte=now
    ).update(due_at=now + timedelta(seconds=CLAIM_SECONDS), attempts=F("attempts") + 1)
    if not claimed:
        return
    rows = Delivery.objects.filter(pk=delivery)
    row = rows.select_related("alert__rule__workspace", "alert__deployment__topology").first()
    if row is None:
        return
    alert = row.alert
    event = AlertEvent(row.event)
    try:
        send(Channel(row.channel), row.target, content(event, alert.rule, alert.deployment, alert))
    except Undeliverable as error:
        again = row.attempts <= len(RETRIES)
        row.error = str(error)[:500]
        row.state = DeliveryState.WAITING if again else DeliveryState.FAILED
        if again:
            row.due_at = timezone.now() + timedelta(seconds=RETRIES[row.attempts - 1])
        log.warning(
            "a notification could not be sent",
            delivery=row.pk,
            attempt=row.attempts,
            reason=row.error,
        )
    else:
        row.state, row.error = DeliveryState.SENT, ""
    # Its rule may have been deleted in the meantime.
    rows.update(state=row.state, error=row.error, due_at=row.due_at)


def test(rule: AlertRule) -> list[TestedReceiver]:
    """Send a test to each receiver of a rule now; return each with its error, if any."""
    found: list[TestedReceiver] = []
    for channel, target in receivers(rule):
        error = None
        try:
            send(channel, target, content(AlertEvent.TEST, rule, None, None))
        except Undeliverable as reason:
            error = str(reason)
        found.append({"channel": channel.value, "target": target, "error": error})
    return found


def receivers(rule: AlertRule) -> list[tuple[Channel, str]]:
    """Who is notified."""
    hooks = [(Channel.WEBHOOK, rule.webhook)] if rule.webhook else []
    return [*hooks, *((Channel.MAIL, address) for address in rule.mail)]


def send(channel: Channel, target: str, payload: Notification) -> None:
    """Send one notification. Raises Undeliverable."""
    if channel == Channel.WEBHOOK:
        post(target, payload, settings.MILLRACE_WEBHOOK_NETWORKS)
        return
    if not settings.MILLRACE_MAIL:
        raise Undeliverable("No mail server is configured: set MILLRACE_SMTP_URL.")
    lines = [payload["message"], "", payload["url"]]
    try:
        EmailMessage(payload["title"], "\n".join(lines), to=[target]).send()
    except (OSError, smtplib.SMTPException, ValueError) as error:
        raise Undeliverable(f"The mail server did not accept it: {error}") from error


def content(
    event: AlertEvent, rule: AlertRule, deployment: Deployment | None, alert: Alert | None
) -> Notification:
    """Return a notification of an alert, or of a test without one."""
    workspace = rule.workspace.slug
    name = "" if deployment is None else deployment.topology.name
    path = "alerts" if deployment is None else f"t/{deployment.topology_id}"
    where = ""
    if deployment is not None and deployment.environment:
        where = f" ({deployment.environment})"
        path += f"?deployment={deployment.pk}"
    title = {
        AlertEvent.FIRED: f"Firing: {rule.name} – {name}{where}",
        AlertEvent.RESOLVED: f"Resolved: {rule.name} – {name}{where}",
        AlertEvent.TEST: f"Test: {rule.name}",
    }[event]
    value = None if alert is None else alert.value
    message = (
        "This is a test. Nothing is wrong." if event == AlertEvent.TEST else sentence(rule, value)
    )
    return {
        "event": event.value,
        "title": one_line(title),
        "message": message,
        "alert": None if alert is None else alert.pk,
        "rule": {
            "id": rule.pk,
            "name": rule.name,
            "condition": rule.condition,
            "threshold": rule.threshold,
            "for_seconds": rule.for_seconds,
        },
        "workspace": workspace,
        "deployment": None if deployment is None else {"id": deployment.pk, "topology": name},
        "value": value,
        "fired_at": _time(None if alert is None else alert.fired_at),
        "resolved_at": _time(None if alert is None else alert.resolved_at),
        "url": f"{settings.MILLRACE_PUBLIC_URL}/w/{workspace}/{path}",
    }


def sentence(rule: AlertRule, value: float | None) -> str:
    """Return the rule's condition as a sentence, with its threshold and the last value."""
    condition = Condition(rule.condition)
    if rule.threshold is None:
        return f"{condition.label}."
    unit = _UNITS[condition]
    last = "" if value is None else f" Last value: {value:g} {unit}."
    return f"{condition.label}: above {rule.threshold:g} {unit}.{last}"


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
