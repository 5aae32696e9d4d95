"""Evaluates alert rules: an alert begins, fires once, and is resolved.

The only caller is a Celery task of the workers, right after it has recorded figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import structlog
from deployments.choices import Desired, Observed
from deployments.models import Deployment
from deployments.runtime import is_stale
from django.db import IntegrityError, transaction
from django.utils import timezone

from monitoring.choices import AlertEvent, Condition, Figure
from monitoring.figures import Figures, unpack
from monitoring.models import Alert, AlertRule, Delivery, FigureRow, Seen
from monitoring.notifying import receivers
from monitoring.recording import RINGS

log = structlog.get_logger(__name__)

#: number of alerts to keep for a rule
MOST_ALERTS = 500

#: states in which a deployment has no lag, because it does not run or reads nothing
_AT_REST = frozenset({Observed.STOPPED, Observed.FAILED, Observed.PAUSED})
_LATENCIES: Mapping[Condition, Figure] = {
    Condition.LATENCY: Figure.LATENCY_P99,
    Condition.ARRIVAL_LATENCY: Figure.ARRIVAL_P99,
}
#: whether a condition holds, and the value; None if that is unknown
Verdict = tuple[bool, float | None] | None


def check_all(now: datetime | None = None) -> None:
    """Evaluate every rule for every deployment that it is about."""
    now = now or timezone.now()
    rules = list(AlertRule.objects.filter(enabled=True).select_related("workspace"))
    _resolve_disabled(now)
    if not rules:
        return
    workspaces = {rule.workspace_id for rule in rules}
    rows = Deployment.objects.filter(workspace__in=workspaces, is_shadow=False)
    rows = rows.select_related("observation", "seen")
    deployments = list(rows.defer("settings", "state_decisions", "beginning"))
    for deployment in deployments:
        about = [rule for rule in rules if concerns(rule, deployment)]
        if about:
            _check(deployment, about, now)


def concerns(rule: AlertRule, deployment: Deployment) -> bool:
    """Whether a rule is about a deployment."""
    if rule.workspace_id != deployment.workspace_id:
        return False
    return rule.topology_id is None or rule.topology_id == deployment.topology_id


def _resolve_disabled(now: datetime) -> None:
    for alert in Alert.objects.filter(resolved_at__isnull=True, rule__enabled=False):
        end(alert, now)


def _check(deployment: Deployment, rules: Iterable[AlertRule], now: datetime) -> None:
    seen = Seen.objects.filter(deployment=deployment).first()
    fresh = seen is not None and not is_stale(seen.at, now.timestamp() * 1000)
    figures = _last_figures(deployment) if fresh else None
    open_alerts = {
        alert.rule_id: alert
        for alert in Alert.objects.filter(deployment=deployment, resolved_at__isnull=True)
    }
    for rule in rules:
        alert = open_alerts.get(rule.pk)
        found = verdict(rule, deployment, seen if fresh else None, figures, now)
        # An unknown value neither fires nor resolves an alert.
        if found is None:
            continue
        holds, value = found
        if holds:
            _holds(rule, deployment, alert, value, now)
        elif alert is not None:
            end(alert, now)


def verdict(
    rule: AlertRule,
    deployment: Deployment,
    seen: Seen | None,
    figures: tuple[Figures, Mapping[str, float]] | None,
    now: datetime,
) -> Verdict:
    """Whether a rule's condition holds. `seen` and `figures`: None without a recent report."""
    condition, state = Condition(rule.condition), deployment.observation.state
    if condition == Condition.FAILED:
        return state == Observed.FAILED, None
    if condition == Condition.UNKNOWN:
        return state == Observed.UNKNOWN, None
    if condition == Condition.DEGRADED:
        suffers = state in {Observed.RESTARTING, Observed.DEGRADED}
        return suffers or deployment.observation.outage is not None, None
    if deployment.desired == Desired.STOPPED or state in _AT_REST:
        return False, None
    if seen is None or figures is None or rule.threshold is None:
        return None
    value = _value(condition, seen, figures, now)
    return None if value is None else (value > rule.threshold, round(value, 3))


def _value(
    condition: Condition,
    seen: Seen,
    figures: tuple[Figures, Mapping[str, float]],
    now: datetime,
) -> float | None:
    last, rates = figures
    if condition == Condition.LAG:
        return sum(last.get(Figure.LAG, {}).values())
    if condition == Condition.LAG_TIME:
        return max(last.get(Figure.LAG_TIME, {}).values(), default=0) / 1000
    if condition == Condition.BATCH_DURATION:
        return max(last.get(Figure.BATCH_DURATION, {}).values(), default=0) / 1000
    if condition in _LATENCIES:
        # Without a record in the last seconds, there is no latency.
        found = last.get(_LATENCIES[condition], {})
        return max(found.values()) / 1000 if found else None
    if condition == Condition.DROPPED:
        return rates.get(Figure.NODE_DROPPED)
    if condition == Condition.DEAD_LETTERS:
        return rates.get(Figure.NODE_DEAD_LETTERS)
    if condition == Condition.REJECTED:
        return rates.get(Figure.NODE_WARNED)
    return max(0.0, now.timestamp() - (seen.records_at or seen.began_at) / 1000)


def _last_figures(deployment: Deployment) -> tuple[Figures, dict[str, float]] | None:
    """Return the newest figures, and the growth of counters per second since the previous ones."""
    rows = FigureRow.objects.filter(deployment=deployment, step=RINGS[0][0])
    found = list(rows.order_by("-slot")[:2])
    if not found:
        return None
    last = unpack(found[0].data)
    rates: dict[str, float] = {}
    if len(found) == 2 and found[0].at > found[1].at:
        before = unpack(found[1].data) if found[1].run == found[0].run else {}
        for figure in (Figure.NODE_DROPPED, Figure.NODE_DEAD_LETTERS, Figure.NODE_WARNED):
            more = sum(last.get(figure, {}).values()) - sum(before.get(figure, {}).values())
            rates[figure] = max(0.0, more) * 1000 / (found[0].at - found[1].at)
    return last, rates


def _holds(
    rule: AlertRule,
    deployment: Deployment,
    alert: Alert | None,
    value: float | None,
    now: datetime,
) -> None:
    if alert is None:
        try:
            with transaction.atomic():
                alert = Alert.objects.create(
                    rule=rule, deployment=deployment, since=now, value=value
                )
        except IntegrityError:
            # Another worker was quicker.
            return
    elif alert.value != value:
        alert.value = value
        Alert.objects.filter(pk=alert.pk, resolved_at__isnull=True).update(value=value)
    if alert.fired_at is None and now - alert.since >= timedelta(seconds=rule.for_seconds):
        with transaction.atomic():
            waits = Alert.objects.filter(
                pk=alert.pk, fired_at__isnull=True, resolved_at__isnull=True
            )
            if waits.update(fired_at=now):
                log.info("alert fires", alert=alert.pk, rule=rule.pk, deployment=deployment.pk)
                _notify(alert, AlertEvent.FIRED, rule)
                _forget(rule)


def end(alert: Alert, now: datetime) -> None:
    """Resolve an alert whose condition no longer holds."""
    if alert.fired_at is None:
        # It did not hold for long enough: no notification was sent.
        alert.delete()
        return
    with transaction.atomic():
        fires = Alert.objects.filter(pk=alert.pk, resolved_at__isnull=True)
        if fires.update(resolved_at=now):
            log.info("alert resolved", alert=alert.pk)
            _notify(alert, AlertEvent.RESOLVED, alert.rule)


def _notify(alert: Alert, event: AlertEvent, rule: AlertRule) -> None:
    Delivery.objects.bulk_create(
        Delivery(alert=alert, event=event, channel=channel, target=target)
        for channel, target in receivers(rule)
    )


def _forget(rule: AlertRule) -> None:
    old = Alert.objects.filter(rule=rule, resolved_at__isnull=False).order_by("-id")
    for alert in old[MOST_ALERTS:]:
        alert.delete()
