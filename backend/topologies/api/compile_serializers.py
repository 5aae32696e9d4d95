"""Shapes of what the compiler answers; its ``Compilation.to_json`` gives exactly this."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from topologies.api.fields import DocumentField
from topologies.choices import Blocks, Severity


class CompileRequestSerializer(serializers.Serializer[Any]):
    """A document, and a number that the answer repeats."""

    document = DocumentField()
    revision = serializers.IntegerField(min_value=0, required=False, default=0)


class TextPositionSerializer(serializers.Serializer[Any]):
    """A place in the parameter's text: 0-based, ``stop`` exclusive."""

    start = serializers.IntegerField()
    stop = serializers.IntegerField()


class DiagnosticSerializer(serializers.Serializer[Any]):
    """Something wrong, or doubtful, with an address."""

    code = serializers.CharField()
    severity = serializers.ChoiceField(choices=Severity.choices)
    node = serializers.CharField(allow_null=True)
    parameter = serializers.CharField(allow_null=True)
    path = serializers.CharField(
        allow_null=True, help_text="The place in a parameter made of parts: branches[1].predicate."
    )
    message = serializers.CharField()
    hint = serializers.CharField(allow_null=True)
    blocks = serializers.ChoiceField(choices=Blocks.choices, allow_null=True)
    position = TextPositionSerializer(allow_null=True)


class PortTypeSerializer(serializers.Serializer[Any]):
    """What flows through a port."""

    role = serializers.CharField(help_text="stream, table, windowed_table or global_table")
    key = serializers.CharField(help_text="A Spark type; ? where it is unknown.")
    value = serializers.CharField(help_text="A Spark type; ? where it is unknown.")
    key_changed = serializers.BooleanField()


class SubtopologySerializer(serializers.Serializer[Any]):
    """A part of the graph that runs as one set of tasks."""

    id = serializers.IntegerField()
    nodes = serializers.ListField(child=serializers.CharField())
    sources = serializers.ListField(child=serializers.CharField())
    sinks = serializers.ListField(child=serializers.CharField())
    stores = serializers.ListField(child=serializers.CharField())
    tasks = serializers.IntegerField()
    level = serializers.IntegerField(help_text="The first of its levels.")
    levels = serializers.ListField(child=serializers.IntegerField())


class InternalTopicSerializer(serializers.Serializer[Any]):
    """A repartition or changelog topic as Kafka Streams would make it."""

    name = serializers.CharField()
    partitions = serializers.IntegerField()
    kind = serializers.CharField(help_text="repartition or changelog")


class NodePlanSerializer(serializers.Serializer[Any]):
    """How a node runs."""

    runs_as = serializers.CharField(help_text="dataframe, stream_task or python")
    guarantee = serializers.CharField()
    why = serializers.CharField()
    subtopologies = serializers.ListField(child=serializers.IntegerField())


class EdgePlanSerializer(serializers.Serializer[Any]):
    """How an edge of the document runs; ``index`` counts the document's edges from 0."""

    index = serializers.IntegerField()
    shuffle = serializers.BooleanField()


class PlanSerializer(serializers.Serializer[Any]):
    """What runs where."""

    subtopologies = SubtopologySerializer(many=True)
    internal_topics = InternalTopicSerializer(many=True)
    text = serializers.CharField(help_text="In the manner of Topology#describe.")
    nodes = serializers.DictField(child=NodePlanSerializer())
    edges = EdgePlanSerializer(many=True)


class GeneratedFileSerializer(serializers.Serializer[Any]):
    """A generated file."""

    path = serializers.CharField()
    text = serializers.CharField()


class SourceSpanSerializer(serializers.Serializer[Any]):
    """Lines of a file that come from a node: 1-based, ``end`` inclusive."""

    node = serializers.CharField()
    path = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()


class GeneratedCodeSerializer(serializers.Serializer[Any]):
    """The job's text."""

    files = GeneratedFileSerializer(many=True)
    source_map = SourceSpanSerializer(many=True)


class CompileResultSerializer(serializers.Serializer[Any]):
    """All that can be said about a document, also about a broken one."""

    revision = serializers.IntegerField()
    diagnostics = DiagnosticSerializer(many=True)
    ports = serializers.DictField(child=serializers.DictField(child=PortTypeSerializer()))
    plan = PlanSerializer(allow_null=True)
    summary = serializers.DictField(child=serializers.CharField())
    code = GeneratedCodeSerializer(allow_null=True)
