"""The last records on the edges of a running job, while a page shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict


class SampledRecord(TypedDict):
    """A record that passed over an edge."""

    number: Annotated[int, "Increases with every captured record."]
    seen: Annotated[int, "When the record passed over the edge, in epoch milliseconds."]
    key: Any
    value: Any
    key_cut: NotRequired[Annotated[bool, "Whether `key` is the beginning of a longer JSON text."]]
    value_cut: NotRequired[
        Annotated[bool, "Whether `value` is the beginning of a longer JSON text."]
    ]
    timestamp: Annotated[int, "The record's timestamp, in epoch milliseconds."]
    headers: dict[str, str | None]
    topic: Annotated[
        str | None,
        "Topic of the input record that caused it; null if there is none, as for a "
        "punctuation. The same applies to partition and offset.",
    ]
    partition: int | None
    offset: int | None


class KeyCounts(TypedDict):
    """Counts of keys since ``since``, from a sample: the most frequent ones, and by task."""

    since: int
    records: int
    sampled: int
    top: list[tuple[str, int]]
    tasks: list[tuple[str, int]]


#: The records between two steps of the task graph.
WaySample = TypedDict(
    "WaySample",
    {
        "from": str,
        "port": str,
        "to": str,
        "input": int,
        "records": list[SampledRecord],
        "keys": NotRequired[KeyCounts],
    },
)


class EdgeSamples(TypedDict):
    """The records and the counts of keys by edge."""

    at: int
    edges: dict[str, list[SampledRecord]]
    keys: dict[str, KeyCounts]


class FrequentKey(TypedDict):
    """A key, and about how many records had it."""

    key: Annotated[str, "JSON text, cut after 200 characters."]
    records: Annotated[int, "Extrapolated from the sample."]


class TaskRecords(TypedDict):
    """The records of a task."""

    task: str
    records: int


class EdgeKeys(TypedDict):
    """What passed over an edge since its records were first requested."""

    since: Annotated[int, "Epoch milliseconds."]
    records: int
    sampled: Annotated[int, "Records whose key was read."]
    top: Annotated[list[FrequentKey], "The most frequent keys, at most 20."]
    tasks: Annotated[list[TaskRecords], "Of all tasks that receive the edge."]
    skew: Annotated[
        float | None,
        "Records of the task with the most, divided by the median of all tasks; null if "
        "the median is 0.",
    ]


class Samples(TypedDict):
    """The last records of an edge, newest first."""

    sampling: Annotated[
        Literal["stopped", "starting", "on"],
        "`stopped`: no driver is running; `starting`: records are not captured yet.",
    ]
    at: Annotated[int | None, "When the driver last captured a record, in epoch milliseconds."]
    records: Annotated[list[SampledRecord], "At most 20."]
    keys: Annotated[EdgeKeys | None, "Null before the first record."]
