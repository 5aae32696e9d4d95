"""Shapes of live pages."""

from __future__ import annotations

from typing import Any

from deployments.api.runtime_serializers import RuntimeSerializer
from deployments.api.serializers import DeploymentSerializer
from rest_framework import serializers
from topologies.api.serializers import TopologySerializer


class PresentUserSerializer(serializers.Serializer[Any]):
    """Somebody who has the topology open."""

    id = serializers.IntegerField()
    display_name = serializers.CharField()
    node = serializers.CharField(allow_null=True, help_text="The node they edit.")


class LiveSnapshotSerializer(serializers.Serializer[Any]):
    """The data of the event ``snapshot``; events that follow keep it true."""

    topology = TopologySerializer(allow_null=True)
    deployment = DeploymentSerializer(allow_null=True)
    deployments = DeploymentSerializer(many=True)
    runtime = RuntimeSerializer(allow_null=True)
    presence = PresentUserSerializer(many=True)


class EditedNodeSerializer(serializers.Serializer[Any]):
    """The node that is being edited; null: none."""

    node = serializers.CharField(max_length=200, allow_null=True)
