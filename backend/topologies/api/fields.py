"""The topology document as a field: typed in the API's description, lenient in its input."""

from __future__ import annotations

import json
from typing import Any

from drf_spectacular.utils import extend_schema_field
from millrace_backend.shapes import ShapeSerializer
from millrace_model.documents import (
    Bend,
    DocumentEdge,
    DocumentNode,
    DocumentParameter,
    Pin,
    TopicSettings,
    TopologyDocument,
)
from rest_framework import serializers

from topologies.choices import DOCUMENT_FORMAT, PARAMETER_TYPES

#: maximum size of a document's JSON in bytes: some 2,000 nodes with code
LARGEST_DOCUMENT = 4 * 1024 * 1024
DEEPEST = 60


class NodeSerializer(ShapeSerializer):
    """A node of the document."""

    shape = DocumentNode
    present = ("params",)
    filled = ("label", "description")


class EdgeSerializer(ShapeSerializer):
    """An edge of the document."""

    shape = DocumentEdge
    filled = ("source_port", "target_port")


class TopicAssumptionSerializer(ShapeSerializer):
    """A topic's settings as the document declares them."""

    shape = TopicSettings
    present = ("partitions",)


class BendSerializer(ShapeSerializer):
    """The points through which an edge is drawn, from its source to its target."""

    shape = Bend
    filled = EdgeSerializer.filled


class PinSerializer(ShapeSerializer):
    """Records that stand for everything before an edge in a simulation."""

    shape = Pin
    filled = EdgeSerializer.filled


class TopologyParameterSerializer(ShapeSerializer):
    """A parameter of the topology; `${name}` stands for its value."""

    shape = DocumentParameter
    present = ("default",)
    type = serializers.ChoiceField(choices=[(each, each) for each in PARAMETER_TYPES])


class DocumentSerializer(ShapeSerializer):
    """A topology document, format millrace.topology/1. Unknown fields are preserved."""

    shape = TopologyDocument
    present = ("format", "name")
    filled = ("description",)
    settings = serializers.DictField(required=False)


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
