"""Alerts of a workspace, and the rules by which they fire."""

from __future__ import annotations

from typing import Any

from accounts.choices import Role
from accounts.models import User
from accounts.permissions import role_in, visible, workspace_for
from drf_spectacular.utils import extend_schema
from millrace_backend.errors import NotFound
from millrace_backend.schema import paged
from millrace_backend.searching import SEARCH_PARAMETER
from millrace_backend.views import PAGE_PARAMETERS, ApiView, valid
from rest_framework.request import Request
from rest_framework.response import Response

from monitoring import actions
from monitoring.api import alert_serializers as shapes
from monitoring.choices import AlertState
from monitoring.models import Alert, AlertRule


def rule_of(reader: User, rule: int) -> AlertRule:
    """Return the rule. Raises NotFound unless the reader is a member of its workspace."""
    rules = AlertRule.objects.select_related("workspace", "topology", "updated_by")
    row = visible(rules, reader).filter(pk=rule).first()
    if row is None:
        raise NotFound("not_found", f"There is no alert rule {rule} for this account.")
    return row


def _whole(rule: AlertRule) -> Any:
    return shapes.AlertRuleSerializer(rule, context={"whole": True}).data


class AlertsView(ApiView):
    """The alerts that have fired."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER, shapes.AlertsQuerySerializer],
        responses=paged(shapes.AlertSerializer),
        operation_id="alert_list",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """One page, newest first."""
        found = workspace_for(self.person, workspace)
        given = valid(shapes.AlertsQuerySerializer, request.query_params)
        rows = Alert.objects.filter(rule__workspace=found, fired_at__isnull=False)
        state = given.get("state")
        if state is not None:
            rows = rows.filter(resolved_at__isnull=state == AlertState.FIRING)
        if "topology" in given:
            rows = rows.filter(deployment__topology=given["topology"])
        rows = rows.select_related("rule", "deployment__topology").prefetch_related("deliveries")
        names = ["rule__name", "deployment__topology__name"]
        return self.page(rows, shapes.AlertSerializer, search=names)


class AlertRulesView(ApiView):
    """The rules of a workspace."""

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, SEARCH_PARAMETER],
        responses=paged(shapes.AlertRuleSerializer),
        operation_id="alert_rule_list",
    )
    def get(self, request: Request, workspace: str) -> Response:
        """One page, by name."""
        found = workspace_for(self.person, workspace)
        rows = AlertRule.objects.filter(workspace=found).select_related("topology", "updated_by")
        role = role_in(self.person, found.pk)
        whole = role is not None and role.allows(Role.OPERATOR)
        return self.page(
            rows,
            shapes.AlertRuleSerializer,
            search=["name", "topology__name"],
            context={"whole": whole},
        )

    @extend_schema(
        request=shapes.AlertRuleSerializer,
        responses={201: shapes.AlertRuleSerializer},
        operation_id="alert_rule_create",
    )
    def post(self, request: Request, workspace: str) -> Response:
        """Create a rule (operator)."""
        found = workspace_for(self.person, workspace)
        given = valid(shapes.AlertRuleSerializer, request.data)
        rule = actions.create_rule(self.person, found, given)
        return Response(_whole(rule), status=201)


class AlertRuleView(ApiView):
    """One rule."""

    @extend_schema(
        request=shapes.AlertRuleSerializer,
        responses=shapes.AlertRuleSerializer,
        operation_id="alert_rule_replace",
    )
    def put(self, request: Request, rule: int) -> Response:
        """Replace a rule (operator)."""
        row = rule_of(self.person, rule)
        given = valid(shapes.AlertRuleSerializer, request.data)
        actions.replace_rule(self.person, row, given)
        return Response(_whole(rule_of(self.person, rule)))

    @extend_schema(responses={204: None}, operation_id="alert_rule_delete")
    def delete(self, request: Request, rule: int) -> Response:
        """Delete a rule with its alerts (operator)."""
        actions.delete_rule(self.person, rule_of(self.person, rule))
        return Response(status=204)


class AlertRuleTestView(ApiView):
    """A test of whether notifications arrive."""

    throttle_scope = "simulate"

    @extend_schema(
        request=None,
        responses=shapes.TestedSerializer(many=True),
        operation_id="alert_rule_test",
    )
    def post(self, request: Request, rule: int) -> Response:
        """Send a test to each receiver of a rule now (operator)."""
        found = actions.test_rule(self.person, rule_of(self.person, rule))
        return Response(shapes.TestedSerializer(found, many=True).data)
