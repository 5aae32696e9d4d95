"""Shapes of what the compiler answers; its ``Compilation.to_json`` gives exactly this."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from topologies.api.fields import DocumentField
from topologies.choices import Blocks, Dialect, Severity


class CompileRequestSerializer(serializers.Serializer[Any]):
    """A document, the dialect of its code, and a number that the answer repeats."""

    document = DocumentField()
    revision = serializers.IntegerField(min_value=0, required=False, default=0)
    dialect = serializers.ChoiceField(
        choices=Dialect.choices,
        required=False,
        default=Dialect.EXACT,
        help_text="plain: ordinary Structured Streaming; differences from Kafka Streams are "
        "reported as diagnostics of severity difference.",
    )


class ExportQuerySerializer(serializers.Serializer[Any]):
    """Dialect of the exported code."""

    dialect = serializers.ChoiceField(
        choices=Dialect.choices, required=False, default=Dialect.EXACT
    )


class TextPositionSerializer(serializers.Serializer[Any]):
    """A range of the parameter's text; 0-based, ``stop`` is exclusive."""

    start = serializers.IntegerField()
    stop = serializers.IntegerField()


class DiagnosticSerializer(serializers.Serializer[Any]):
    """An error or a warning, with the node and parameter it refers to."""

    code = serializers.CharField()
    severity = serializers.ChoiceField(choices=Severity.choices)
    node = serializers.CharField(allow_null=True)
    parameter = serializers.CharField(allow_null=True)
    path = serializers.CharField(
        allow_null=True,
        help_text="The path within a compound parameter, such as branches[1].predicate.",
    )
    message = serializers.CharField()
    hint = serializers.CharField(allow_null=True)
    facts = serializers.DictField(
        child=serializers.CharField(allow_blank=True),
        required=False,
        help_text="What the sentences name, for sentences in another language.",
    )
    blocks = serializers.ChoiceField(choices=Blocks.choices, allow_null=True)
    position = TextPositionSerializer(allow_null=True)


class PortTypeSerializer(serializers.Serializer[Any]):
    """Role and types of a port."""

    role = serializers.CharField(help_text="stream, table, windowed_table or global_table")
    key = serializers.CharField(help_text="A Spark SQL type; `?` if unknown.")
    value = serializers.CharField(help_text="A Spark SQL type; `?` if unknown.")
    key_changed = serializers.BooleanField()


class SubtopologySerializer(serializers.Serializer[Any]):
    """A sub-topology, which runs as one set of tasks."""

    id = serializers.IntegerField()
    nodes = serializers.ListField(child=serializers.CharField())
    sources = serializers.ListField(child=serializers.CharField())
    sinks = serializers.ListField(child=serializers.CharField())
    stores = serializers.ListField(child=serializers.CharField())
    tasks = serializers.IntegerField()
    level = serializers.IntegerField(help_text="The first level of the sub-topology.")
    levels = serializers.ListField(child=serializers.IntegerField())


class InternalTopicSerializer(serializers.Serializer[Any]):
    """A repartition or changelog topic as Kafka Streams would create it."""

    name = serializers.CharField()
    partitions = serializers.IntegerField()
    kind = serializers.CharField(help_text="repartition or changelog")


class NodePlanSerializer(serializers.Serializer[Any]):
    """How a node is executed."""

    runs_as = serializers.CharField(help_text="stream_task or python")
    guarantee = serializers.CharField()
    why = serializers.CharField()
    subtopologies = serializers.ListField(child=serializers.IntegerField())


class EdgePlanSerializer(serializers.Serializer[Any]):
    """How an edge is executed; ``index`` is its 0-based position in the document."""

    index = serializers.IntegerField()
    shuffle = serializers.BooleanField()


class PlanSerializer(serializers.Serializer[Any]):
    """The physical plan."""

    subtopologies = SubtopologySerializer(many=True)
    internal_topics = InternalTopicSerializer(many=True)
    text = serializers.CharField(help_text="Text like that of Kafka Streams' Topology#describe.")
    nodes = serializers.DictField(child=NodePlanSerializer())
    edges = EdgePlanSerializer(many=True)


class GeneratedFileSerializer(serializers.Serializer[Any]):
    """A generated file."""

    path = serializers.CharField()
    text = serializers.CharField()


class SourceSpanSerializer(serializers.Serializer[Any]):
    """The lines of a file that belong to a node; 1-based, ``end`` is inclusive."""

    node = serializers.CharField()
    path = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()


class GeneratedCodeSerializer(serializers.Serializer[Any]):
    """The generated program."""

    files = GeneratedFileSerializer(many=True)
    source_map = SourceSpanSerializer(many=True)
    between = serializers.ListField(
        child=serializers.CharField(),
        help_text="Topics that a plain program writes and reads between its queries.",
    )


class CompileResultSerializer(serializers.Serializer[Any]):
    """Diagnostics, types, plan and code of a document, valid or not."""

    revision = serializers.IntegerField()
    diagnostics = DiagnosticSerializer(many=True)
    ports = serializers.DictField(child=serializers.DictField(child=PortTypeSerializer()))
    plan = PlanSerializer(allow_null=True)
    summary = serializers.DictField(child=serializers.CharField())
    code = GeneratedCodeSerializer(allow_null=True)
