"""Serializers of the compiler's results, in the form of ``Compilation.to_json``."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from millrace_compiler.compilation.conditions import ANY, EVERY, MOST
from rest_framework import serializers

from topologies.api.fields import DocumentField
from topologies.choices import Blocks, Dialect, Severity


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": [EVERY, ANY]},
            {"type": "integer", "minimum": 0},
        ],
        "default": EVERY,
        "description": "For how many records the predicate is true: every one of at least one, any "
        "(at least one), or their exact number.",
    }
)
class RecordsField(serializers.Field[Any, Any, Any, Any]):
    """The number of records for which a predicate is true."""

    def to_internal_value(self, data: Any) -> Any:
        """Accept `every`, `any` or a whole number."""
        if data in (EVERY, ANY) or (type(data) is int and data >= 0):
            return data
        raise serializers.ValidationError(f"Use “{EVERY}”, “{ANY}” or a whole number.")

    def to_representation(self, value: Any) -> Any:
        return value


class ConditionSerializer(serializers.Serializer[Any]):
    """A Spark SQL predicate over the records of a topic, or over the rows of a store.

    Its columns are `key`, `value`, `timestamp` and, for a topic, `headers`.
    """

    topic = serializers.CharField(required=False, max_length=249)
    store = serializers.CharField(required=False, max_length=249)
    predicate = serializers.CharField(allow_blank=True, max_length=10_000)
    records = RecordsField(default=EVERY)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require either a topic or a store."""
        if ("topic" in attrs) == ("store" in attrs):
            raise serializers.ValidationError("Set either topic or store.")
        return attrs


class CompileRequestSerializer(serializers.Serializer[Any]):
    """A document, the dialect of its code, and a number that the response repeats."""

    document = DocumentField()
    revision = serializers.IntegerField(min_value=0, required=False, default=0)
    dialect = serializers.ChoiceField(
        choices=Dialect.choices,
        required=False,
        default=Dialect.EXACT,
        help_text="plain: ordinary Structured Streaming; differences from Kafka Streams are "
        "reported as diagnostics of severity difference.",
    )
    conditions = serializers.ListField(
        child=ConditionSerializer(),
        required=False,
        default=list,
        max_length=MOST,
        help_text="Conditions of a test, to be checked against the document.",
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
        help_text="The values in message and hint, for translations.",
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


class TopicReadSerializer(serializers.Serializer[Any]):
    """A topic that the topology reads by name."""

    name = serializers.CharField()
    partitions = serializers.IntegerField()
    known = serializers.CharField(
        help_text="Where the number is from: broker, declared (by the document) or assumed."
    )


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
    topics = TopicReadSerializer(many=True)
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


class CheckedConditionSerializer(serializers.Serializer[Any]):
    """The types of a condition's columns, and diagnostics of its predicate."""

    columns = serializers.DictField(
        child=serializers.CharField(help_text="A Spark SQL type; `?` if unknown.")
    )
    diagnostics = DiagnosticSerializer(many=True)


@extend_schema_field({"oneOf": [{"type": "string"}, {"$ref": "#/components/schemas/Sentence"}]})
class SentenceValue(serializers.JSONField):
    """Text of the document, or a sentence."""


class SentenceSerializer(serializers.Serializer[Any]):
    """A sentence by its form, such as `counts by {key}`, so that it can be translated."""

    form = serializers.CharField()
    values = serializers.DictField(child=SentenceValue())


class CompileResultSerializer(serializers.Serializer[Any]):
    """Diagnostics, types, plan and code of a document, valid or not."""

    revision = serializers.IntegerField()
    diagnostics = DiagnosticSerializer(many=True)
    ports = serializers.DictField(child=serializers.DictField(child=PortTypeSerializer()))
    plan = PlanSerializer(allow_null=True)
    summary = serializers.DictField(
        child=SentenceSerializer(), help_text="A sentence about each node that can be read."
    )
    code = GeneratedCodeSerializer(allow_null=True)
    conditions = CheckedConditionSerializer(
        many=True, required=False, help_text="The conditions of the request; absent if it has none."
    )
