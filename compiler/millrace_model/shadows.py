"""A shadow's notes (``shadow.json``), and the comparison of its outputs with its deployment's."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypeAlias, TypedDict

from millrace_model.reading import Moment

#: by topic and partition: the first offset that was noted, and the one after the last record
OutputEnds: TypeAlias = dict[str, dict[str, list[int]]]
#: by topic and partition: the next offset to read
InputOffsets: TypeAlias = dict[str, dict[str, int]]


class WrittenOutputs(TypedDict):
    """Notes of a sink (``outputs.json``): what a query has written with its last batch."""

    stream: str
    batch: int
    ends: OutputEnds


class DoneBatch(WrittenOutputs):
    """A completed batch of a deployment."""

    places: InputOffsets


class PlannedBatch(TypedDict):
    """A batch of a shadow; ``whole``: up to the end of the deployment's batch ``theirs``."""

    stream: str
    batch: int
    whole: bool
    theirs: DoneBatch


class BothOutputs(TypedDict):
    """The ends of the outputs of both at input offsets that both have reached."""

    theirs: OutputEnds
    ours: OutputEnds
    places: InputOffsets
    #: in ms
    at: NotRequired[int]


class ShadowNotes(TypedDict, total=False):
    """Notes of a shadow: where it began, what it has reached, and its planned batch."""

    began: BothOutputs
    reached: BothOutputs
    planned: PlannedBatch
    last: PlannedBatch


class OutputRecord(TypedDict):
    """A record of an output topic."""

    partition: int
    offset: int
    timestamp: int
    value: Annotated[str | None, "The first 2,000 bytes; null for a tombstone."]
    headers: list[list[str | None]]


class OutputExample(TypedDict):
    """A record that differs."""

    kind: str
    key: str | None
    running: OutputRecord | None
    shadow: OutputRecord | None


class OutputCounts(TypedDict):
    """The number of records of a topic, by result."""

    equal: int
    reordered: Annotated[
        int, "Equal records in a different order among the records with the same key."
    ]
    differing: int
    only_running: int
    only_shadow: int


class ComparedTopic(OutputCounts):
    """The result of the comparison of an output topic."""

    topic: Annotated[str, "Its name in the running version."]
    sinks: Annotated[list[str], "Sinks that write it in either version."]
    deleted: Annotated[
        int, "Offsets that could not be compared because the broker has deleted them."
    ]
    examples: list[OutputExample]


class OutputComparison(TypedDict):
    """A comparison of outputs for the same input."""

    state: str
    read: Annotated[int, "Offsets that were read."]
    total: int
    started_at: Moment
    finished_at: Moment | None
    error: str | None
    running_version: int
    shadow_version: int
    topics: list[ComparedTopic]


class KeptComparison(OutputComparison):
    """A comparison as it is kept; ``next``: the part to match next."""

    advanced_at: str
    began: BothOutputs
    reached: BothOutputs
    next: int | None
