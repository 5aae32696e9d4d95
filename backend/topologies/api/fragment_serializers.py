"""Serializers of fragments and their uses."""

from __future__ import annotations

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from topologies.fragments import FragmentInterface, interface_of
from topologies.models import Topology


class DeletionQuerySerializer(serializers.Serializer[Any]):
    """What a deletion accepts."""

    used = serializers.BooleanField(
        required=False, default=False, help_text="Delete a fragment that topologies use."
    )


class FragmentInputSerializer(serializers.Serializer[Any]):
    """An input of a fragment, with what it needs; null: anything."""

    name = serializers.CharField()
    role = serializers.CharField(allow_null=True)
    key = serializers.CharField(allow_null=True)
    value = serializers.CharField(allow_null=True)


class FragmentInterfaceSerializer(serializers.Serializer[Any]):
    """Inputs, outputs and names of parameters."""

    inputs = FragmentInputSerializer(many=True)
    outputs = serializers.ListField(child=serializers.CharField())
    parameters = serializers.ListField(child=serializers.CharField())


class FragmentSerializer(serializers.ModelSerializer[Topology]):
    """A fragment in a list, with the interface of its newest version."""

    latest_version = serializers.SerializerMethodField()
    updated_by = serializers.CharField(
        source="updated_by.shown_name", default=None, read_only=True, allow_null=True
    )
    interface = serializers.SerializerMethodField()
    users = serializers.IntegerField(help_text="Number of topologies and fragments that use it.")

    class Meta:
        model = Topology
        fields: ClassVar = [
            *("id", "name", "description", "latest_version", "node_count", "updated_at"),
            *("updated_by", "interface", "users"),
        ]
        read_only_fields = fields

    def get_latest_version(self, topology: Topology) -> int | None:
        """Number of the newest version; null before the first."""
        return topology.latest_number or None

    @extend_schema_field(FragmentInterfaceSerializer)
    def get_interface(self, topology: Topology) -> FragmentInterface:
        """Inputs, outputs and parameters of the newest version."""
        return interface_of(next(iter(getattr(topology, "newest", ())), None))


class FragmentUserSerializer(serializers.Serializer[Any]):
    """A topology whose newest version contains versions of a fragment."""

    topology = serializers.IntegerField()
    name = serializers.CharField()
    is_fragment = serializers.BooleanField()
    versions = serializers.ListField(child=serializers.IntegerField())
