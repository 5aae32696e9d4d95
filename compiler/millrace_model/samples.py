"""The last records on the edges of a running job, while a page shows them."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class SampledRecord(TypedDict):
    """A record, as the page shows it. ``seen``: when, in ms; ``number``: of its process."""

    number: int
    seen: int
    key: Any
    value: Any
    timestamp: int
    headers: NotRequired[dict[str, str | None]]
    topic: NotRequired[str]
    partition: NotRequired[int]
    offset: NotRequired[int]


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
