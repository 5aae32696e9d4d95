"""Shapes of stores and their rows."""

from __future__ import annotations

from typing import Any

from millrace_backend.shapes import ShapeSerializer, serializer_of
from millrace_model.reads import StoreName, TaskTime, Window
from rest_framework import serializers

from deployments.stores import MOST_ROWS, ListedStore, ShownPart, StoreList

#: the largest time that a request may contain, in ms
MOST_TIME = 8_640_000_000_000_000
LONGEST_KEY = 10_000


class StoreSerializer(ShapeSerializer):
    """A store that can be queried."""

    shape = ListedStore

    windows = serializers.JSONField(allow_null=True, help_text="Type, size, advance or gap in ms.")


StoresSerializer = serializer_of(StoreList, "Stores")
StorePartSerializer = serializer_of(ShownPart, "StorePart")
StoreWindowSerializer = serializer_of(Window, "StoreWindow")


class StoredRowSerializer(serializers.Serializer[Any]):
    """A row of a store."""

    key = StorePartSerializer()
    window = StoreWindowSerializer(required=False)
    valid_from = serializers.IntegerField(
        required=False, help_text="For a version: the time from which it is valid."
    )
    value = StorePartSerializer()
    timestamp = serializers.IntegerField(
        allow_null=True,
        help_text="Milliseconds since the epoch; null in stores without timestamps.",
    )
    task = serializers.IntegerField(help_text="Number of the task that stores it.")


class StoreTaskSerializer(ShapeSerializer):
    """The stream time of a task."""

    shape = TaskTime

    stream_time = serializers.IntegerField(help_text="Milliseconds since the epoch.")


StoreNameSerializer = serializer_of(StoreName)


class StorePageSerializer(serializers.Serializer[Any]):
    """Rows as of the last committed batch, and the cursor of the next page."""

    store = StoreNameSerializer()
    batch = serializers.IntegerField(help_text="The last committed batch.")
    committed_at = serializers.IntegerField(help_text="Milliseconds since the epoch.")
    tasks = StoreTaskSerializer(many=True)
    rows = StoredRowSerializer(many=True)
    next = serializers.CharField(
        allow_null=True, help_text="`after` of the next page; null on the last one."
    )


class StoreAnswerSerializer(serializers.Serializer[Any]):
    """The response; it has no page while the process that reads stores is starting."""

    state = serializers.ChoiceField(choices=[("done", "Done"), ("starting", "Starting")])
    page = StorePageSerializer(allow_null=True)


class StoreQuerySerializer(serializers.Serializer[Any]):
    """Which rows to read; by default the first ones in the order of keys."""

    key = serializers.CharField(
        required=False,
        allow_blank=True,
        trim_whitespace=False,
        max_length=LONGEST_KEY,
        help_text="Rows of one key: plain text for STRING keys, JSON for others.",
    )
    prefix = serializers.CharField(
        required=False,
        trim_whitespace=False,
        max_length=LONGEST_KEY,
        help_text="Rows whose STRING keys begin with this text.",
    )
    from_time = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_TIME,
        help_text="Windows, sessions or versions that begin at this time or later, in ms.",
    )
    to_time = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_TIME,
        help_text="Windows, sessions or versions that begin at this time or earlier, in ms.",
    )
    as_of = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_TIME,
        help_text="The values of a versioned store at this time, in ms.",
    )
    versions = serializers.BooleanField(
        default=False, help_text="Each version of a versioned store as a row, including deletions."
    )
    newest = serializers.BooleanField(
        default=False, help_text="Latest first, instead of ordered by key."
    )
    after = serializers.CharField(
        required=False, max_length=2 * LONGEST_KEY, help_text="`next` of the previous page."
    )
    limit = serializers.IntegerField(min_value=1, max_value=MOST_ROWS, default=100)

    def get_fields(self) -> dict[str, Any]:
        """Add ``from``, which is a keyword of Python, and ``to``."""
        bounds = {
            name: serializers.CharField(
                required=False,
                trim_whitespace=False,
                max_length=LONGEST_KEY,
                source=source,
                help_text=help_text,
            )
            for name, source, help_text in (
                ("from", "start", "The first key of a range, as `key`."),
                ("to", "end", "The last key of a range, as `key`."),
            )
        }
        return {**super().get_fields(), **bounds}
