"""Shapes of topics and their records."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from records.choices import Compare, GroupState, RecordFormat, Start, Stopped
from records.sampling import MOST_SAMPLED

#: the largest offset and timestamp that a request may name
MOST = 2**62
MOST_TIME = 8_640_000_000_000_000
LONGEST_FILTER = 500
#: fields of a sample that are masked
MOST_MASKS = 1_000


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
    latest = serializers.IntegerField(help_text="The offset behind its last committed record.")
    leader = serializers.IntegerField(allow_null=True)
    replicas = serializers.ListField(child=serializers.IntegerField())
    in_sync = serializers.ListField(child=serializers.IntegerField())


class TopicSettingSerializer(serializers.Serializer[Any]):
    """A setting of a topic."""

    name = serializers.CharField()
    value = serializers.CharField(allow_null=True, help_text="Null where it is sensitive.")
    own = serializers.BooleanField(help_text="Set for this topic; else the broker's.")
    sensitive = serializers.BooleanField()


class TopicDetailSerializer(serializers.Serializer[Any]):
    """A topic without its records."""

    name = serializers.CharField()
    cleanup_policy = serializers.CharField()
    records = serializers.IntegerField()
    partitions = PartitionOffsetsSerializer(many=True)
    configuration = TopicSettingSerializer(many=True)


class GroupPlaceSerializer(serializers.Serializer[Any]):
    """How far a consumer group is in a partition."""

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
        help_text="False where the cluster has more groups than were asked."
    )


class RecordPartSerializer(serializers.Serializer[Any]):
    """A key, a value or a header's value."""

    format = serializers.CharField(help_text="A RecordFormat, or null.")
    text = serializers.CharField(
        allow_null=True, help_text="Null for null; hexadecimal digits of bytes."
    )
    size = serializers.IntegerField(help_text="Bytes.")
    cut = serializers.BooleanField(help_text="Whether the text goes on.")
    error = serializers.CharField(
        allow_null=True, help_text="Why the bytes are not of the format that was chosen."
    )
    schema_id = serializers.IntegerField(
        allow_null=True, help_text="Of a schema registry, where the bytes seem to begin with one."
    )


class RecordHeaderSerializer(RecordPartSerializer):
    """A header."""

    key = serializers.CharField()


class RecordSerializer(serializers.Serializer[Any]):
    """A record of a topic."""

    partition = serializers.IntegerField()
    offset = serializers.IntegerField()
    timestamp = serializers.IntegerField(help_text="Milliseconds since the epoch.")
    log_append_time = serializers.BooleanField(help_text="Whether the broker set the timestamp.")
    size = serializers.IntegerField(help_text="Bytes of key and value.")
    key = RecordPartSerializer()
    value = RecordPartSerializer()
    headers = RecordHeaderSerializer(many=True)


class RawRecordSerializer(RecordSerializer):
    """A record with its bytes."""

    raw_key = serializers.CharField(allow_null=True, help_text="Base64; at most a million bytes.")
    raw_value = serializers.CharField(allow_null=True, help_text="Base64; at most a million bytes.")


class RecordPageSerializer(serializers.Serializer[Any]):
    """Records, and how to go on."""

    records = RecordSerializer(many=True)
    scanned = serializers.IntegerField(help_text="Records that were read for this answer.")
    stopped = serializers.ChoiceField(
        choices=Stopped.choices, help_text="Why there are no more of them."
    )
    next = serializers.CharField(help_text="The cursor of the next page.")
    ends = serializers.CharField(help_text="The cursor from which records follow that arrive now.")


class FormatsQuerySerializer(serializers.Serializer[Any]):
    """Formats in which to read records."""

    key_format = serializers.ChoiceField(choices=RecordFormat.choices, default=RecordFormat.AUTO)
    value_format = serializers.ChoiceField(choices=RecordFormat.choices, default=RecordFormat.AUTO)
    reader = serializers.CharField(
        max_length=300,
        default="",
        allow_blank=True,
        help_text="`TOPOLOGY:NODE` of the topic's uses: in the formats of that node (Avro, "
        "Protobuf, schema registries), whatever key_format and value_format say.",
    )


class RecordsQuerySerializer(FormatsQuerySerializer):
    """Which records to read."""

    start = serializers.ChoiceField(
        choices=Start.choices,
        default=Start.LATEST,
        help_text="`latest`: newest first; the others go forward.",
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
        help_text="Text in key or value, in upper or lower case.",
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
    cursor = serializers.CharField(
        max_length=100_000, default="", allow_blank=True, help_text="`next` or `ends` of an answer."
    )


class NewPartSerializer(serializers.Serializer[Any]):
    """A key or a value to write."""

    format = serializers.ChoiceField(
        choices=[each for each in RecordFormat.choices if each[0] != RecordFormat.AUTO.value]
    )
    text = serializers.CharField(
        allow_blank=True, trim_whitespace=False, help_text="Of bytes, hexadecimal digits."
    )


class NewHeaderSerializer(serializers.Serializer[Any]):
    """A header to write."""

    key = serializers.CharField(max_length=1_000)
    text = serializers.CharField(allow_blank=True, trim_whitespace=False)


class NewRecordSerializer(serializers.Serializer[Any]):
    """A record to write."""

    key = NewPartSerializer(allow_null=True, default=None)
    value = NewPartSerializer(allow_null=True, help_text="Null: a tombstone.")
    headers = NewHeaderSerializer(many=True, default=list)
    partition = serializers.IntegerField(
        min_value=0,
        max_value=1_000_000,
        allow_null=True,
        default=None,
        help_text="Null: by the key, as Kafka's clients do it.",
    )
    timestamp = serializers.IntegerField(
        min_value=1, max_value=MOST_TIME, allow_null=True, default=None, help_text="Null: now."
    )


class RecordPlaceSerializer(serializers.Serializer[Any]):
    """Where a record was written."""

    partition = serializers.IntegerField()
    offset = serializers.IntegerField()


class MaskSerializer(serializers.Serializer[Any]):
    """What becomes of a field before a record leaves the server."""

    how = serializers.ChoiceField(
        choices=[("hash", "Hash"), ("replace", "Replace")],
        help_text="hash: another value of the same type, the same for the same one.",
    )
    by = serializers.JSONField(
        allow_null=True, default=None, help_text="In the place of the field, with `replace`."
    )


class SampleRequestSerializer(serializers.Serializer[Any]):
    """Records of a topic to simulate with."""

    count = serializers.IntegerField(min_value=1, max_value=MOST_SAMPLED, default=50)
    start = serializers.ChoiceField(
        choices=[(Start.LATEST.value, "Newest"), (Start.EARLIEST.value, "First")],
        default=Start.LATEST,
    )
    key_format = serializers.CharField(
        max_length=20,
        default="string",
        help_text="Of the topology document. Records of other formats than string, json and "
        "numbers come as their bytes.",
    )
    value_format = serializers.CharField(max_length=20, default="json")
    masks = serializers.DictField(
        child=MaskSerializer(),
        default=dict,
        help_text="By the field's path: `key`, `value.customer.name`.",
    )
    headers = serializers.BooleanField(default=False, help_text="Whether headers come along.")

    def validate_masks(self, masks: dict[str, Any]) -> dict[str, Any]:
        """Not more than a schema has."""
        if len(masks) > MOST_MASKS:
            raise serializers.ValidationError(f"At most {MOST_MASKS} fields.")
        return masks


class SampleSerializer(serializers.Serializer[Any]):
    """Input lines of a simulation."""

    lines = serializers.ListField(child=serializers.DictField())
    skipped = serializers.IntegerField(
        help_text="Records that were left out: their bytes could not be read, so not be masked."
    )
