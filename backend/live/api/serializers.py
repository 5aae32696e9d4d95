"""Shapes of live pages."""

from __future__ import annotations

from typing import Any

from deployments.api.runtime_serializers import RuntimeSerializer
from deployments.api.serializers import DeploymentSerializer
from rest_framework import serializers
from topologies.api.serializers import TopologySerializer


class PresentUserSerializer(serializers.Serializer[Any]):
    """A user who has the topology open."""

    id = serializers.IntegerField()
    display_name = serializers.CharField()
    node = serializers.CharField(allow_null=True, help_text="The node being edited.")


class ShownDeploymentSerializer(serializers.Serializer[Any]):
    """Which deployment of a topology a page shows."""

    deployment = serializers.IntegerField(min_value=1, max_value=2**53, required=False)


class LiveSnapshotSerializer(serializers.Serializer[Any]):
    """The data of the ``snapshot`` event, which later events update."""

    topology = TopologySerializer(allow_null=True)
    deployment = DeploymentSerializer(allow_null=True, help_text="The one that is shown.")
    deployments = DeploymentSerializer(many=True)
    runtime = RuntimeSerializer(allow_null=True)
    presence = PresentUserSerializer(many=True)


class CursorSerializer(serializers.Serializer[Any]):
    """The position of the pointer in the drawing, in its units; null if it left the canvas."""

    at = serializers.ListField(
        child=serializers.IntegerField(min_value=-1_000_000, max_value=1_000_000),
        min_length=2,
        max_length=2,
        allow_null=True,
        help_text="The distances from the left and from the top.",
    )


class EditedNodeSerializer(serializers.Serializer[Any]):
    """The node being edited, or null."""

    node = serializers.CharField(max_length=200, allow_null=True)
