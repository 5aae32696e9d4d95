"""Shapes of the times at which a deployment runs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from deployments.choices import ScheduleAction


class TimesSerializer(serializers.Serializer[Any]):
    """Times of some days at which a deployment runs."""

    days = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=7),
        min_length=1,
        max_length=7,
        help_text="1: Monday, …, 7: Sunday.",
    )
    start = serializers.RegexField(r"^([01]\d|2[0-3]):[0-5]\d$", help_text="HH:MM.")
    stop = serializers.RegexField(
        r"^([01]\d|2[0-3]):[0-5]\d$",
        help_text="HH:MM; on the next day if it is not after `start`.",
    )

    def validate_days(self, days: list[int]) -> list[int]:
        """Each day once, in order."""
        return sorted(set(days))


class NewScheduleSerializer(serializers.Serializer[Any]):
    """When a deployment is to run."""

    times = serializers.ListField(child=TimesSerializer(), min_length=1, max_length=20)
    zone = serializers.CharField(max_length=64, help_text="A time zone, such as Europe/Berlin.")


class ScheduleFailureSerializer(serializers.Serializer[Any]):
    """Why a deployment was not started or stopped: the parts of an error of the API."""

    code = serializers.CharField()
    message = serializers.CharField()
    hint = serializers.CharField(allow_blank=True)
    facts = serializers.DictField(child=serializers.CharField(allow_blank=True))


class ScheduleSerializer(serializers.Serializer[Any]):
    """When a deployment runs, and what comes next."""

    times = TimesSerializer(many=True)
    zone = serializers.CharField()
    set_by = serializers.CharField(allow_null=True)
    next_at = serializers.DateTimeField(
        allow_null=True, help_text="The next time that changes something."
    )
    next_action = serializers.ChoiceField(choices=ScheduleAction.choices)
    deviates = serializers.BooleanField(
        help_text="A person started it outside its times, or stopped it within them."
    )
    last_at = serializers.DateTimeField(allow_null=True)
    last_action = serializers.ChoiceField(choices=ScheduleAction.choices, allow_null=True)
    failure = ScheduleFailureSerializer(allow_null=True)
