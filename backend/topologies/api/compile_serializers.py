"""Serializers of the compiler's results, in the form of ``Compilation.to_json``."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from millrace_backend.shapes import ShapeSerializer, serializer_of
from millrace_compiler.compilation.conditions import ANY, EVERY, MOST
from millrace_model.diagnostics import DiagnosticJson, PositionJson
from millrace_model.plans import (
    CodeFile,
    CodeJson,
    CompilationJson,
    ConditionJson,
    FragmentJson,
    InnerNode,
    PlacedSubtopology,
    PortJson,
    SentenceJson,
    SpanJson,
)
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


serializer_of(PositionJson, "TextPosition")


class DiagnosticSerializer(ShapeSerializer):
    """An error or a warning, with the node and parameter it refers to."""

    shape = DiagnosticJson
    choices = {"severity": Severity, "blocks": Blocks}


@extend_schema_field({"oneOf": [{"type": "string"}, {"$ref": "#/components/schemas/Sentence"}]})
class SentenceValue(serializers.JSONField):
    """Text of the document, or a sentence."""


class SentenceSerializer(ShapeSerializer):
    """A sentence by its form, such as `counts by {key}`, so that it can be translated."""

    shape = SentenceJson

    values = serializers.DictField(child=SentenceValue())


serializer_of(PortJson, "PortType")
serializer_of(PlacedSubtopology, "Subtopology")
serializer_of(CodeFile, "GeneratedFile")
serializer_of(SpanJson, "SourceSpan")
serializer_of(CodeJson, "GeneratedCode")
serializer_of(ConditionJson, "CheckedCondition")


class InnerNodeSerializer(ShapeSerializer):
    """A node of a fragment; ``local`` is its id in the definition."""

    shape = InnerNode


serializer_of(FragmentJson, "FragmentContents")


class CompileResultSerializer(ShapeSerializer):
    """Diagnostics, types, plan and code of a document, valid or not."""

    shape = CompilationJson

    revision = serializers.IntegerField()
