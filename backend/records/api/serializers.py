"""Serializers of topics and their records."""

from __future__ import annotations

from typing import Any, ClassVar

from millrace_backend.shapes import ShapeSerializer, serializer_of
from rest_framework import serializers

from records.api.generator_serializers import (
    DocumentFormatSerializer,
    SchemaField,
    SchemaSerializer,
)
from records.choices import KEY_FORMATS, Compare, GroupState, RecordFormat, Start, Stopped
from records.queries import RawRecord, RecordPage, ShownHeader, ShownPart, ShownRecord
from records.sampling import MOST_SAMPLED

#: the largest offset and timestamp that a request may name
MOST = 2**62
MOST_TIME = 8_640_000_000_000_000
LONGEST_FILTER = 500
#: maximum number of masked fields in a sample
MOST_MASKS = 1_000


class KafkaClusterSerializer(serializers.Serializer[Any]):
    """How clients of the Kafka cluster connect to it."""

    bootstrap_servers = serializers.CharField(help_text="HOST:PORT, separated by commas.")
    security_protocol = serializers.CharField(help_text="Of the server's own clients.")


class TopicFiguresSerializer(serializers.Serializer[Any]):
    """A topic of the cluster in a list."""

    name = serializers.CharField()
    partitions = serializers.IntegerField()
    records = serializers.IntegerField(
        help_text="Offsets between the first and the last record of each partition."
    )
    cleanup_policy = serializers.CharField()


class PartitionOffsetsSerializer(serializers.Serializer[Any]):
    """A partition of a topic."""

    partition = serializers.IntegerField()
    earliest = serializers.IntegerField(help_text="Offset of its first record.")
    latest = serializers.IntegerField(help_text="The offset after its last committed record.")
    leader = serializers.IntegerField(allow_null=True)
    replicas = serializers.ListField(child=serializers.IntegerField())
    in_sync = serializers.ListField(child=serializers.IntegerField())


class TopicSettingSerializer(serializers.Serializer[Any]):
    """A setting of a topic."""

    name = serializers.CharField()
    value = serializers.CharField(allow_null=True, help_text="Null if sensitive.")
    own = serializers.BooleanField(
        help_text="Whether the value is set for this topic; otherwise it is the broker's."
    )
    sensitive = serializers.BooleanField()


class TopicDetailSerializer(serializers.Serializer[Any]):
    """A topic without its records."""

    name = serializers.CharField()
    cleanup_policy = serializers.CharField()
    records = serializers.IntegerField()
    partitions = PartitionOffsetsSerializer(many=True)
    configuration = TopicSettingSerializer(many=True)


class GroupPlaceSerializer(serializers.Serializer[Any]):
    """A consumer group's position in a partition."""

    partition = serializers.IntegerField()
    committed = serializers.IntegerField()
    lag = serializers.IntegerField()


class ConsumerGroupSerializer(serializers.Serializer[Any]):
    """A consumer group of a topic."""

    group = serializers.CharField()
    state = serializers.ChoiceField(choices=GroupState.choices)
    lag = serializers.IntegerField(help_text="Records in all partitions.")
    partitions = GroupPlaceSerializer(many=True)


class ConsumerGroupsSerializer(serializers.Serializer[Any]):
    """The consumer groups of a topic."""

    groups = ConsumerGroupSerializer(many=True)
    complete = serializers.BooleanField(
        help_text="False if the cluster has more groups than were read."
    )


RecordPartSerializer = serializer_of(ShownPart, "RecordPart")
RecordHeaderSerializer = serializer_of(ShownHeader, "RecordHeader")
RecordSerializer = serializer_of(ShownRecord, "Record")
RawRecordSerializer = serializer_of(RawRecord)


class RecordPageSerializer(ShapeSerializer):
    """Records, with cursors to continue."""

    shape = RecordPage
    choices: ClassVar = {"stopped": Stopped}


def _registry() -> serializers.CharField:
    return serializers.CharField(
        max_length=2_000, required=False, help_text="Address of a schema registry."
    )


def _subject() -> serializers.CharField:
    return serializers.CharField(max_length=1_000, required=False)


class FormatsQuerySerializer(serializers.Serializer[Any]):
    """Formats for reading records."""

    key_format = serializers.ChoiceField(choices=KEY_FORMATS, default=RecordFormat.AUTO)
    key_registry = _registry()
    key_subject = _subject()
    value_format = serializers.ChoiceField(choices=RecordFormat.choices, default=RecordFormat.AUTO)
    value_registry = _registry()
    value_subject = _subject()
    reader = serializers.CharField(
        max_length=300,
        default="",
        allow_blank=True,
        help_text="`TOPOLOGY:NODE` of the topic's uses: read records in the formats of this node "
        "(Avro, Protobuf, schema registries); overrides key_format and value_format.",
    )


class ReadRecordSerializer(FormatsQuerySerializer):
    """Formats for reading records, with schemas as text."""

    key_schema = SchemaField(help_text="Of Avro or Protobuf.")
    value_schema = SchemaField(help_text="Of Avro or Protobuf.")


class RecordsQuerySerializer(FormatsQuerySerializer):
    """Which records to read."""

    start = serializers.ChoiceField(
        choices=Start.choices,
        default=Start.LATEST,
        help_text="`latest`: newest first; all others: oldest first.",
    )
    partition = serializers.IntegerField(min_value=0, max_value=1_000_000, required=False)
    offset = serializers.IntegerField(min_value=0, max_value=MOST, default=0)
    time = serializers.IntegerField(
        min_value=0, max_value=MOST_TIME, default=0, help_text="Milliseconds since the epoch."
    )
    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)
    contains = serializers.CharField(
        max_length=LONGEST_FILTER,
        default="",
        allow_blank=True,
        help_text="Text in key or value, not case-sensitive.",
    )
    field = serializers.CharField(
        max_length=LONGEST_FILTER,
        default="",
        allow_blank=True,
        help_text="A path such as `value.customer.id` that must have the value `equals`.",
    )
    equals = serializers.CharField(
        max_length=LONGEST_FILTER, default="", allow_blank=True, trim_whitespace=False
    )
    compare = serializers.ChoiceField(
        choices=Compare.choices,
        default=Compare.EQUALS,
        help_text="How the field is compared with `equals`.",
    )
    where = serializers.CharField(
        max_length=LONGEST_FILTER,
        default="",
        allow_blank=True,
        help_text="A Spark SQL expression that is true for the records to return, over `key`, "
        "`value`, `timestamp`, `headers`, `topic`, `partition` and `offset`: a request scans 1,000 "
        "records. Without `reader`, text and JSON are STRING.",
    )
    cursor = serializers.CharField(
        max_length=100_000,
        default="",
        allow_blank=True,
        help_text="`next` or `ends` of a previous response.",
    )


class ReadRecordsSerializer(ReadRecordSerializer, RecordsQuerySerializer):
    """Which records to read, with schemas as text."""


class NewPartSerializer(SchemaSerializer):
    """A key or a value to write; Avro and Protobuf need a schema, or a registry and a subject."""

    format = serializers.ChoiceField(
        choices=[each for each in RecordFormat.choices if each[0] != RecordFormat.AUTO.value]
    )
    text = serializers.CharField(
        allow_blank=True,
        trim_whitespace=False,
        help_text="Bytes as hexadecimal digits, Avro and Protobuf as JSON.",
    )


class NewHeaderSerializer(serializers.Serializer[Any]):
    """A header to write."""

    key = serializers.CharField(max_length=1_000)
    text = serializers.CharField(allow_blank=True, trim_whitespace=False)


class NewRecordSerializer(serializers.Serializer[Any]):
    """A record to write."""

    key = NewPartSerializer(allow_null=True, default=None)
    value = NewPartSerializer(allow_null=True, help_text="Null for a tombstone.")
    headers = NewHeaderSerializer(many=True, default=list)
    partition = serializers.IntegerField(
        min_value=0,
        max_value=1_000_000,
        allow_null=True,
        default=None,
        help_text="Null: computed from the key, as by Kafka's clients.",
    )
    timestamp = serializers.IntegerField(
        min_value=1,
        max_value=MOST_TIME,
        allow_null=True,
        default=None,
        help_text="Null for the current time.",
    )


class RecordPlaceSerializer(serializers.Serializer[Any]):
    """Where a record was written."""

    partition = serializers.IntegerField()
    offset = serializers.IntegerField()


class MaskSerializer(serializers.Serializer[Any]):
    """How a field is masked before a record leaves the server."""

    how = serializers.ChoiceField(
        choices=[("hash", "Hash"), ("replace", "Replace")],
        help_text="hash: replace it by a value of the same type; equal values get equal hashes.",
    )
    by = serializers.JSONField(allow_null=True, default=None, help_text="The value for `replace`.")


def _few(masks: dict[str, Any]) -> None:
    """Limit the number of masks."""
    if len(masks) > MOST_MASKS:
        raise serializers.ValidationError(f"At most {MOST_MASKS} fields.")


class MasksField(serializers.DictField):
    """Masks by field."""

    def __init__(self, **more: Any) -> None:
        super().__init__(
            child=MaskSerializer(),
            default=dict,
            help_text="By the field's path: `key`, `value.customer.name`.",
            validators=[_few],
            **more,
        )


class SampleRequestSerializer(serializers.Serializer[Any]):
    """Records of a topic for a simulation."""

    count = serializers.IntegerField(min_value=1, max_value=MOST_SAMPLED, default=50)
    start = serializers.ChoiceField(
        choices=[(Start.LATEST.value, "Newest"), (Start.EARLIEST.value, "First")],
        default=Start.LATEST,
    )
    key_format = serializers.CharField(
        max_length=20,
        required=False,
        help_text="As in the topology document; string by default. Records in formats other than "
        "string, json and numbers are returned as bytes.",
    )
    value_format = serializers.CharField(
        max_length=20, required=False, help_text="json by default."
    )
    key = DocumentFormatSerializer(
        required=False, help_text="Instead of `key_format`: with the schema of Avro or Protobuf."
    )
    value = DocumentFormatSerializer(required=False)
    masks = MasksField()
    headers = serializers.BooleanField(default=False, help_text="Whether to include headers.")


class SampleSerializer(serializers.Serializer[Any]):
    """Input lines of a simulation."""

    lines = serializers.ListField(child=serializers.DictField())
    skipped = serializers.IntegerField(
        help_text="Number of records that were left out because they could not be deserialized, "
        "and so not masked."
    )
