"""The topology document as a field: typed in the API's description, lenient in its input."""

from __future__ import annotations

import json
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from topologies.choices import DOCUMENT_FORMAT, PARAMETER_TYPES

#: maximum size of a document's JSON in bytes: some 2,000 nodes with code
LARGEST_DOCUMENT = 4 * 1024 * 1024
DEEPEST = 60


class PositionSerializer(serializers.Serializer[Any]):
    """The position of a node on the canvas."""

    x = serializers.FloatField()
    y = serializers.FloatField()


class NodeSerializer(serializers.Serializer[Any]):
    """A node of the document."""

    id = serializers.CharField()
    kind = serializers.CharField()
    description = serializers.CharField(required=False)
    position = PositionSerializer(required=False)
    params = serializers.DictField()

    def get_fields(self) -> dict[str, Any]:
        """Add ``label``, a name that every serializer field already uses."""
        return {**super().get_fields(), "label": serializers.CharField(required=False)}


class EdgeSerializer(serializers.Serializer[Any]):
    """An edge of the document."""

    source_port = serializers.CharField(required=False)
    target_port = serializers.CharField(required=False)
    target = serializers.CharField()

    def get_fields(self) -> dict[str, Any]:
        """Add ``source``, a name that every serializer field already uses."""
        return {"source": serializers.CharField(), **super().get_fields()}


class TopicAssumptionSerializer(serializers.Serializer[Any]):
    """A topic's settings as the document declares them."""

    partitions = serializers.IntegerField()


class GroupSerializer(serializers.Serializer[Any]):
    """A frame around nodes of the drawing. It contains the groups that name it as their parent."""

    id = serializers.CharField()
    title = serializers.CharField(required=False)
    color = serializers.CharField(required=False, help_text="A family of operators, such as join.")
    nodes = serializers.ListField(child=serializers.CharField(), required=False)
    collapsed = serializers.BooleanField(required=False, help_text="Drawn as a single box.")

    def get_fields(self) -> dict[str, Any]:
        """Add ``parent``, a name that every serializer field already uses."""
        return {**super().get_fields(), "parent": serializers.CharField(required=False)}


class NoteSerializer(serializers.Serializer[Any]):
    """A note on the drawing."""

    id = serializers.CharField()
    text = serializers.CharField(required=False, help_text="Markdown.")
    position = PositionSerializer(required=False)
    width = serializers.FloatField(required=False)
    height = serializers.FloatField(required=False)
    color = serializers.CharField(required=False, help_text="A family of operators, such as join.")


class PinnedRecordSerializer(serializers.Serializer[Any]):
    """A record on an edge."""

    key = serializers.JSONField(allow_null=True)
    value = serializers.JSONField(allow_null=True)
    timestamp = serializers.IntegerField(required=False, help_text="In ms; 0 unless stated.")
    partition = serializers.IntegerField(required=False)
    headers = serializers.DictField(child=serializers.CharField(allow_null=True), required=False)


class PinSerializer(EdgeSerializer):
    """Records that stand for everything before an edge in a simulation."""

    records = PinnedRecordSerializer(many=True)


class DrawingSerializer(serializers.Serializer[Any]):
    """Groups, notes, and what is set up for simulations. They never affect what is deployed."""

    groups = GroupSerializer(many=True, required=False)
    notes = NoteSerializer(many=True, required=False)
    pins = PinSerializer(many=True, required=False)
    muted = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Nodes that do nothing in simulations.",
    )


class TopologyParameterSerializer(serializers.Serializer[Any]):
    """A parameter of the topology; `${name}` stands for its value."""

    type = serializers.ChoiceField(choices=[(each, each) for each in PARAMETER_TYPES])
    values = serializers.DictField(
        required=False, help_text="Values in the environments dev, test and prod."
    )
    description = serializers.CharField(required=False)

    def get_fields(self) -> dict[str, Any]:
        """Add ``default``, a name that every serializer field already uses."""
        default = serializers.JSONField(help_text="The value elsewhere, and in simulations.")
        return {**super().get_fields(), "default": default}


class FragmentDefinitionSerializer(serializers.Serializer[Any]):
    """A version of a fragment that nodes of the kind `fragment` use. Its ports are nodes."""

    description = serializers.CharField(required=False)
    nodes = NodeSerializer(many=True)
    edges = EdgeSerializer(many=True)
    parameters = serializers.DictField(child=TopologyParameterSerializer(), required=False)
    drawing = DrawingSerializer(required=False)


class DocumentSerializer(serializers.Serializer[Any]):
    """A topology document, format millrace.topology/1. Unknown fields are preserved."""

    format = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField(required=False)
    settings = serializers.DictField(required=False)
    topics = serializers.DictField(child=TopicAssumptionSerializer(), required=False)
    nodes = NodeSerializer(many=True)
    edges = EdgeSerializer(many=True)
    drawing = DrawingSerializer(required=False)
    parameters = serializers.DictField(child=TopologyParameterSerializer(), required=False)
    fragments = serializers.DictField(
        child=FragmentDefinitionSerializer(), required=False, help_text="By name and version."
    )


@extend_schema_field(DocumentSerializer)
class DocumentField(serializers.JSONField):
    """Accepts every document that the canvas can show, including invalid topologies."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the document. Rejects only what is not a graph of nodes, or is far too large."""
        document: Any = super().to_internal_value(data)
        complaint = complaint_about(document)
        if complaint:
            raise serializers.ValidationError(complaint)
        document.setdefault("name", "")
        for node in document["nodes"]:
            node.setdefault("params", {})
        return document


def complaint_about(document: Any) -> str:
    """Return why a value cannot be stored as a document, or an empty string if it can."""
    if not isinstance(document, dict):
        return f"A topology document is a JSON object, not {kind_of(document)}."
    if document.get("format") != DOCUMENT_FORMAT:
        return f'Its "format" is {json.dumps(document.get("format"))}, not "{DOCUMENT_FORMAT}".'
    if not isinstance(document.get("name", ""), str):
        return f'"name" is text, not {kind_of(document["name"])}.'
    for name, needed in (("nodes", ("id", "kind")), ("edges", ("source", "target"))):
        rows = document.get(name)
        if not isinstance(rows, list):
            return f'"{name}" is a list, not {kind_of(rows)}.'
        for index, row in enumerate(rows):
            if not isinstance(row, dict):
                return f"{name}[{index}] is an object, not {kind_of(row)}."
            missing = next((field for field in needed if not isinstance(row.get(field), str)), "")
            if missing:
                return f'{name}[{index}] has no text in its field "{missing}".'
            if name == "nodes" and not isinstance(row.get("params", {}), dict):
                return f"nodes[{index}].params is an object, not {kind_of(row['params'])}."
    if depth_of(document) > DEEPEST:
        return f"It is nested more than {DEEPEST} levels deep."
    if len(json.dumps(document, ensure_ascii=False)) > LARGEST_DOCUMENT:
        return f"It is larger than {LARGEST_DOCUMENT // 1024 // 1024} MB."
    return ""


def depth_of(value: Any) -> int:
    """Return the nesting depth of lists and objects, counted iteratively up to ``DEEPEST`` + 1."""
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        level, depth = inner, depth + 1
    return depth


def kind_of(value: Any) -> str:
    """Return the kind of a JSON value in words."""
    words = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return words.get(type(value), "a number")
