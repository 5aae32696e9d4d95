"""Serializers of the tests of a topology."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from millrace_backend.names import NameField
from rest_framework import serializers

from topologies.api.simulation_serializers import ExpectedSerializer
from topologies.models import TopologyTest
from topologies.simulating import MOST_INPUTS

#: maximum size of a test's JSON in bytes
LARGEST_TEST = 2 * 1024 * 1024


class TopologyTestSerializer(serializers.ModelSerializer[TopologyTest]):
    """A test: input lines and expected results."""

    name = NameField()
    inputs = serializers.ListField(child=serializers.JSONField(), max_length=MOST_INPUTS)
    expected = ExpectedSerializer()
    updated_by = serializers.CharField(
        source="updated_by.shown_name", allow_null=True, default=None, read_only=True
    )

    class Meta:
        model = TopologyTest
        fields: ClassVar = ["id", "name", "inputs", "expected", "updated_by", "updated_at"]
        read_only_fields: ClassVar = ["id", "updated_at"]

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Reject a test that is too large to be stored."""
        if len(json.dumps([attrs["inputs"], attrs["expected"]])) > LARGEST_TEST:
            raise serializers.ValidationError(
                f"A test can have at most {LARGEST_TEST // 1024 // 1024} MB. Keep fewer records."
            )
        return attrs
