"""The only code through which people change alert rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.choices import Role
from accounts.events import audit
from accounts.models import User, Workspace
from accounts.permissions import require
from django.db import transaction
from django.utils import timezone
from millrace_backend.errors import NotFound
from millrace_backend.quotas import require_room
from topologies.models import Topology

from monitoring import alerting, notifying
from monitoring.models import Alert, AlertRule


def create_rule(actor: User, workspace: Workspace, values: Mapping[str, Any]) -> AlertRule:
    """Create a rule.

    Raises NotFound for a topology of another workspace, Conflict if the quota is reached.
    """
    require(actor, workspace.pk, Role.OPERATOR)
    with transaction.atomic():
        # Requests that create rules at the same time are serialized.
        Workspace.objects.select_for_update().get(pk=workspace.pk)
        require_room("alert_rules", workspace.alert_rules.count())
        rule = AlertRule(workspace=workspace, updated_by=actor)
        _fill(rule, values)
        rule.save()
        audit(actor, workspace.pk, "alert_rule.create", "alert_rule", rule.pk, name=rule.name)
    return rule


def replace_rule(actor: User, rule: AlertRule, values: Mapping[str, object]) -> AlertRule:
    """Replace a rule; alerts of deployments that it no longer covers are resolved."""
    require(actor, rule.workspace_id, Role.OPERATOR)
    with transaction.atomic():
        _fill(rule, values)
        rule.updated_by, rule.updated_at = actor, timezone.now()
        rule.save()
        for alert in Alert.objects.filter(rule=rule, resolved_at__isnull=True).select_related(
            "deployment"
        ):
            if not alerting.concerns(rule, alert.deployment):
                alerting.end(alert, timezone.now())
        audit(actor, rule.workspace_id, "alert_rule.change", "alert_rule", rule.pk, name=rule.name)
    return rule


def delete_rule(actor: User, rule: AlertRule) -> None:
    """Delete a rule with its alerts."""
    require(actor, rule.workspace_id, Role.OPERATOR)
    with transaction.atomic():
        audit(actor, rule.workspace_id, "alert_rule.delete", "alert_rule", rule.pk, name=rule.name)
        rule.delete()


def test_rule(actor: User, rule: AlertRule) -> list[notifying.TestedReceiver]:
    """Send a test to the rule's receivers; return each with its error, if any."""
    require(actor, rule.workspace_id, Role.OPERATOR)
    found = notifying.test(rule)
    audit(actor, rule.workspace_id, "alert_rule.test", "alert_rule", rule.pk, name=rule.name)
    return found


def _fill(rule: AlertRule, values: Mapping[str, Any]) -> None:
    topology = values.get("topology")
    if (
        topology is not None
        and not Topology.objects.filter(pk=topology, workspace=rule.workspace_id).exists()
    ):
        raise NotFound(
            "no_such_topology",
            f"There is no topology {topology} in this workspace.",
            fields={"topology": ["Not in this workspace."]},
        )
    rule.topology_id = topology
    for name in ("name", "condition", "threshold", "for_seconds", "webhook", "mail", "enabled"):
        setattr(rule, name, values[name])
