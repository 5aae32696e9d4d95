"""Serializers of generators and of generated records."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from millrace_backend.errors import ApiError
from millrace_backend.schema import CauseSerializer
from millrace_backend.shapes import ShapeSerializer
from rest_framework import serializers
from topologies.simulating import MOST_INPUTS

from records.choices import GeneratorState
from records.evaluating import MOST_TRIED
from records.generators import MOST_RATE, MOST_SECONDS
from records.models import Generator
from records.topics import NAME
from records.uses import TopicUse

MOST_RECORDS = 100_000_000
MOST_KEYS = 1_000_000_000
#: limits of a field's rule
MOST_VALUES, LONGEST_TEXT = 1_000, 1_000
#: maximum size of all rules of a recipe as JSON, in bytes
LARGEST_RULES = 200_000
#: maximum length of a schema in a request, in characters
LONGEST_SCHEMA = 200_000


class SchemaField(serializers.CharField):
    """The text of a schema. Raises ApiError with the code `schema_too_long`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=LONGEST_SCHEMA, required=False, **options)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if len(text) > LONGEST_SCHEMA:
            message = f"The schema has {len(text):,} characters, more than {LONGEST_SCHEMA:,}."
            raise ApiError(
                "schema_too_long",
                message,
                "Remove its documentation and the types that are not needed, or use a schema "
                "registry.",
                fields={str(self.field_name): [message]},
                length=f"{len(text):,}",
                most=f"{LONGEST_SCHEMA:,}",
            )
        return text


class SchemaSerializer(serializers.Serializer[Any]):
    """The schema of a format: its text, or its place in a schema registry."""

    schema = SchemaField(help_text="Of JSON (DDL), Avro or Protobuf.")
    registry = serializers.CharField(
        max_length=2_000, required=False, help_text="Address of a schema registry."
    )
    subject = serializers.CharField(max_length=1_000, required=False)


class DocumentFormatSerializer(SchemaSerializer):
    """A format of the topology document."""

    format = serializers.CharField(max_length=20)
    inner = serializers.CharField(
        max_length=20, required=False, help_text="Format of a key with a window, without it."
    )
    window_size = serializers.CharField(
        max_length=40, required=False, help_text="Of time windows, such as 1 hour."
    )


class FieldRuleSerializer(serializers.Serializer[Any]):
    """How a field is generated: `values`, `min` and `max`, `parts`, or a `prefix` with a number."""

    values = serializers.ListField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        min_length=1,
        max_length=MOST_VALUES,
        help_text="One of these values.",
    )
    parts = serializers.ListField(
        child=serializers.ListField(
            child=serializers.CharField(allow_blank=True, max_length=LONGEST_TEXT),
            min_length=1,
            max_length=MOST_VALUES,
        ),
        required=False,
        min_length=1,
        max_length=20,
        help_text="Text of one value from each list, separated by spaces.",
    )
    min = serializers.FloatField(required=False)
    max = serializers.FloatField(required=False)
    prefix = serializers.CharField(
        required=False,
        max_length=LONGEST_TEXT,
        trim_whitespace=False,
        help_text="Text before the number; without `min` and `max`, it is the number of the key.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one way to generate the field."""
        ways = [name for name in ("values", "parts") if name in attrs]
        numbers = [name for name in ("min", "max") if name in attrs]
        if len(numbers) == 1 or (numbers and attrs["min"] > attrs["max"]):
            raise serializers.ValidationError("Set min and max; min must not be greater than max.")
        if len(ways) + bool(numbers or "prefix" in attrs) != 1:
            raise serializers.ValidationError("Set values, or parts, or min, max and prefix.")
        return attrs


def _share(help_text: str) -> serializers.FloatField:
    return serializers.FloatField(min_value=0, max_value=100, default=0, help_text=help_text)


class RulesField(serializers.DictField):
    """The rules of fields. Their size is limited before each of them is read."""

    child = FieldRuleSerializer()

    def to_internal_value(self, data: Any) -> Any:
        if len(json.dumps(data)) > LARGEST_RULES:
            raise serializers.ValidationError(f"At most {LARGEST_RULES:,} bytes.")
        if isinstance(data, dict) and len(data) > MOST_VALUES:
            raise serializers.ValidationError(f"At most {MOST_VALUES} fields.")
        return super().to_internal_value(data)


class RecipeSerializer(serializers.Serializer[Any]):
    """What generated records look like; the same seed gives the same records."""

    key = DocumentFormatSerializer()
    value = DocumentFormatSerializer()
    time_field = serializers.CharField(
        max_length=255,
        allow_null=True,
        default=None,
        help_text="The field of the value that contains the record's timestamp.",
    )
    keys = serializers.IntegerField(
        min_value=1, max_value=MOST_KEYS, default=10, help_text="Number of distinct keys."
    )
    skew = serializers.FloatField(
        min_value=0,
        max_value=5,
        default=0,
        help_text="Exponent of the Zipf distribution; 0: uniform.",
    )
    late = _share("Percentage of late records.")
    late_by = serializers.IntegerField(
        min_value=0, max_value=864_000_000, default=0, help_text="Maximum lateness in ms."
    )
    nulls = _share("Percentage of null values.")
    malformed = _share("Percentage of values that cannot be deserialized.")
    seed = serializers.IntegerField(min_value=0, max_value=2**31, default=1)

    def get_fields(self) -> dict[str, Any]:
        """Add ``fields``, a name that every serializer already uses."""
        rules = RulesField(
            default=dict,
            help_text="By field path: key, value, value.customer.name.",
        )
        return {**super().get_fields(), "fields": rules}


class GeneratorChangeSerializer(serializers.Serializer[Any]):
    """Settings of a generator."""

    recipe = RecipeSerializer()
    rate = serializers.FloatField(
        min_value=0.01, max_value=MOST_RATE, default=10, help_text="Records per second."
    )
    seconds = serializers.IntegerField(
        min_value=1,
        max_value=MOST_SECONDS,
        default=3600,
        help_text="The generator ends after this time.",
    )
    most = serializers.IntegerField(
        min_value=1,
        max_value=MOST_RECORDS,
        allow_null=True,
        default=None,
        help_text="The generator ends after this number of records.",
    )


class NewGeneratorSerializer(GeneratorChangeSerializer):
    """A generator to start."""

    topic = serializers.CharField(max_length=249)


class GeneratorSerializer(serializers.ModelSerializer[Generator]):
    """A generator."""

    state = serializers.ChoiceField(choices=GeneratorState.choices)
    recipe = RecipeSerializer()
    problem = CauseSerializer(allow_null=True, help_text="Why it failed, or what it waits for.")
    created_by = serializers.CharField(
        source="created_by.shown_name", allow_null=True, default=None, read_only=True
    )

    topology = serializers.PrimaryKeyRelatedField[Any](
        read_only=True, help_text="The topology with which it stops; null without one."
    )
    seconds = serializers.IntegerField(
        allow_null=True, help_text="How long a run lasts; null: until it is stopped."
    )

    class Meta:
        model = Generator
        fields: ClassVar = [
            "id", "topic", "topology", "recipe", "rate", "most", "seconds", "ends_at", "state",
            "written", "problem", "created_by", "created_at", "ended_at",
        ]  # fmt: skip
        read_only_fields = fields


class GeneratedRequestSerializer(serializers.Serializer[Any]):
    """Records to generate for a simulation."""

    topic = serializers.CharField(max_length=249)
    recipe = RecipeSerializer()
    count = serializers.IntegerField(min_value=1, max_value=MOST_INPUTS, default=20)
    every = serializers.IntegerField(
        min_value=0,
        max_value=86_400_000,
        default=60_000,
        help_text="Average time between two records in ms.",
    )


class FormatsSerializer(serializers.Serializer[Any]):
    """Formats of a key and a value."""

    key = DocumentFormatSerializer()
    value = DocumentFormatSerializer()


class FormatTypesSerializer(serializers.Serializer[Any]):
    """The types of a key and a value in Spark DDL."""

    key = serializers.CharField()
    value = serializers.CharField()


class TypesSerializer(serializers.Serializer[Any]):
    """Spark types of a record's key and value."""

    key = serializers.CharField(max_length=LONGEST_SCHEMA)
    value = serializers.CharField(max_length=LONGEST_SCHEMA)


class TriedRecordSerializer(serializers.Serializer[Any]):
    """A record for which an expression is evaluated; key and value as JSON."""

    key = serializers.JSONField(allow_null=True, default=None)
    value = serializers.JSONField(allow_null=True, default=None)
    timestamp = serializers.IntegerField(min_value=0, max_value=2**53, default=0)
    topic = serializers.RegexField(NAME, default="records")
    partition = serializers.IntegerField(min_value=0, max_value=9_999, default=0)
    headers = serializers.DictField(
        child=serializers.CharField(allow_null=True, allow_blank=True, trim_whitespace=False),
        required=False,
    )


class ExpressionTrialSerializer(serializers.Serializer[Any]):
    """A Spark SQL expression and the records for which it is evaluated."""

    expression = serializers.CharField(max_length=20_000, trim_whitespace=False)
    types = TypesSerializer()
    records = serializers.ListField(
        child=TriedRecordSerializer(), min_length=1, max_length=MOST_TRIED
    )


class TriedValueSerializer(serializers.Serializer[Any]):
    """The value of an expression for a record."""

    value = serializers.JSONField(allow_null=True)
    error = serializers.CharField(allow_null=True, help_text="Why there is no value.")


class ExpressionValuesSerializer(serializers.Serializer[Any]):
    """The values of an expression, in the order of the records."""

    values = TriedValueSerializer(many=True)


class GeneratedSerializer(serializers.Serializer[Any]):
    """Input lines of a simulation."""

    lines = serializers.ListField(child=serializers.DictField())


class TopicUseSerializer(ShapeSerializer):
    """A node of a topology that reads or writes a topic, and the formats it states."""

    shape = TopicUse
    key = serializers.DictField(allow_null=True)
    value = serializers.DictField(allow_null=True)


class TopicUsesSerializer(serializers.Serializer[Any]):
    """Uses of a topic."""

    uses = TopicUseSerializer(many=True)


class TriedSerializer(serializers.Serializer[Any]):
    """What *Try it* created."""

    topology = serializers.IntegerField()
    generators = GeneratorSerializer(
        many=True, help_text="Generators that were started; they write to new topics."
    )
