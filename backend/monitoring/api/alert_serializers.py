"""Shapes of alerts and their rules."""

from __future__ import annotations

from typing import Any, ClassVar

from deployments.choices import Environment
from django.conf import settings
from millrace_backend.names import NameField
from millrace_backend.shapes import ShapeSerializer
from rest_framework import serializers

from monitoring.choices import (
    STATES,
    AlertEvent,
    AlertState,
    Channel,
    Condition,
    DeliveryState,
)
from monitoring.models import Alert, AlertRule, Delivery
from monitoring.notifying import TestedReceiver
from monitoring.webhooks import masked, refusal_of

#: maximum number of mail addresses in a rule
MOST_ADDRESSES = 10
LONGEST_FOR = 7 * 24 * 3_600


class AlertRuleSerializer(serializers.Serializer[AlertRule]):
    """The condition and the receivers of alerts."""

    id = serializers.IntegerField(read_only=True)
    name = NameField()
    topology = serializers.IntegerField(
        source="topology_id", allow_null=True, default=None, help_text="Null for all deployments."
    )
    topology_name = serializers.CharField(source="topology.name", read_only=True, allow_null=True)
    condition = serializers.ChoiceField(choices=Condition.choices)
    threshold = serializers.FloatField(
        allow_null=True, default=None, min_value=0, max_value=1e15,
        help_text="The condition is true above this value; null for conditions on states.",
    )  # fmt: skip
    for_seconds = serializers.IntegerField(
        default=0,
        min_value=0,
        max_value=LONGEST_FOR,
        help_text="How long the condition must be true before the alert fires.",
    )
    webhook = serializers.CharField(
        max_length=1_000,
        allow_blank=True,
        default="",
        help_text="Address for POST requests; viewers and editors see only its host.",
    )
    mail = serializers.ListField(
        child=serializers.EmailField(max_length=254), max_length=MOST_ADDRESSES, default=[]
    )
    enabled = serializers.BooleanField(default=True)
    updated_by = serializers.CharField(
        source="updated_by.shown_name", read_only=True, allow_null=True
    )
    updated_at = serializers.DateTimeField(read_only=True)

    def to_representation(self, instance: AlertRule) -> dict[str, Any]:
        """Mask the webhook, except for those who may change it (`whole` in the context)."""
        found: dict[str, Any] = super().to_representation(instance)
        return (
            found if self.context.get("whole") else {**found, "webhook": masked(found["webhook"])}
        )

    def validate_webhook(self, value: str) -> str:
        """Require an address to which a request may be sent, as when it is sent."""
        problem = refusal_of(value, settings.MILLRACE_WEBHOOK_NETWORKS) if value else None
        if problem is not None:
            raise serializers.ValidationError(problem)
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require a threshold if the condition needs one."""
        if attrs["condition"] in STATES:
            attrs["threshold"] = None
        elif attrs["threshold"] is None:
            raise serializers.ValidationError({"threshold": ["This condition needs a number."]})
        return {**attrs, "topology": attrs.pop("topology_id")}


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """A notification on its way to one receiver."""

    event = serializers.ChoiceField(choices=AlertEvent.choices)
    channel = serializers.ChoiceField(choices=Channel.choices)
    state = serializers.ChoiceField(choices=DeliveryState.choices)
    target = serializers.SerializerMethodField(help_text="For a webhook, only its host.")

    class Meta:
        model = Delivery
        fields = ("event", "channel", "target", "state", "attempts", "error")
        read_only_fields = ("attempts", "error")

    def get_target(self, delivery: Delivery) -> str:
        """The receiver; for a webhook, only its host."""
        return masked(delivery.target) if delivery.channel == Channel.WEBHOOK else delivery.target


class AlertSerializer(serializers.ModelSerializer[Alert]):
    """One incident."""

    rule = serializers.IntegerField(source="rule_id")
    name = serializers.CharField(source="rule.name")
    condition = serializers.ChoiceField(source="rule.condition", choices=Condition.choices)
    threshold = serializers.FloatField(source="rule.threshold", allow_null=True)
    deployment = serializers.IntegerField(source="deployment_id")
    topology = serializers.IntegerField(source="deployment.topology_id")
    topology_name = serializers.CharField(source="deployment.topology.name")
    environment = serializers.ChoiceField(
        source="deployment.environment",
        choices=Environment.choices,
        allow_null=True,
        help_text="The deployment's environment.",
    )
    state = serializers.SerializerMethodField()
    value = serializers.FloatField(allow_null=True, help_text="The last value.")
    fired_at = serializers.DateTimeField()
    deliveries = DeliverySerializer(many=True, help_text="Notifications of the alert.")

    class Meta:
        model = Alert
        fields = (
            *("id", "rule", "name", "condition", "threshold", "deployment", "topology"),
            *(
                "topology_name",
                "environment",
                "state",
                "value",
                "since",
                "fired_at",
                "resolved_at",
                "deliveries",
            ),
        )
        read_only_fields = ("resolved_at",)

    def get_state(self, alert: Alert) -> AlertState:
        """Whether its condition still holds."""
        return AlertState.FIRING if alert.resolved_at is None else AlertState.RESOLVED


class AlertsQuerySerializer(serializers.Serializer[Any]):
    """The alerts to list."""

    state = serializers.ChoiceField(choices=AlertState.choices, required=False)
    topology = serializers.IntegerField(required=False)


class TestedSerializer(ShapeSerializer):
    """Whether a test reached a receiver."""

    shape = TestedReceiver
    choices: ClassVar = {"channel": Channel}
