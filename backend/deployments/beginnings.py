"""Starts of a deployment that has run before: with empty stores, or from other offsets.

The driver applies a request once, by its id (`millrace_runtime.checkpoint.starting_point`);
this module checks it before anything stops, and describes its effects.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from millrace_backend.errors import ApiError, NotFound
from millrace_compiler.graphs.kinds import global_kinds, source_kinds
from millrace_model.changes import PlanWarning
from millrace_model.documents import TopologyDocument
from millrace_model.drivers import BeginRequest, DeploymentSettings, StoredBegin
from records.topics import Ends, described, ends_of, offsets_at
from topologies.models import Version

from deployments.choices import Position, Reset, StartWarning
from deployments.environments import document_in
from deployments.models import Deployment

#: offsets by topic and partition
Offsets = Mapping[str, Mapping[int, int]]


@dataclass(frozen=True)
class Beginning:
    """A requested start. `time` is set for the position `time`, `offsets` for `offsets`."""

    reset: frozenset[str] = frozenset()
    position: str = Position.STOPPED.value
    time: datetime | None = None
    offsets: Offsets = field(default_factory=dict)

    @staticmethod
    def of(values: Mapping[str, Any]) -> Beginning | None:
        """Return the start in the validated fields of a request; None if they contain none.

        Raises ApiError if positions are reset and set as well.
        """
        given = values.get("start_from")
        reset = frozenset(values.get("reset") or ())
        if given is None and not reset:
            return None
        start = given or {"position": Position.STOPPED.value}
        if Reset.POSITIONS in reset:
            if start["position"] not in {Position.STOPPED.value, Position.SOURCES.value}:
                raise ApiError(
                    "invalid",
                    "Positions can be reset or set, but not both.",
                    "Remove “positions” from “reset”, or omit “start_from”.",
                    fields={"reset": ["Positions are set by start_from."]},
                )
            start = {"position": Position.SOURCES.value}
        return Beginning(reset, start["position"], start.get("time"), start.get("offsets") or {})

    @property
    def resets_stores(self) -> bool:
        """Whether all stores start empty."""
        return Reset.STORES in self.reset

    @property
    def continues(self) -> bool:
        """Whether the deployment continues where it stopped, with its rows."""
        return not self.resets_stores and self.position == Position.STOPPED

    def to_request(self) -> BeginRequest | None:
        """Return the request for the driver, with an id of its own; None if it simply continues."""
        if self.continues:
            return None
        asked: BeginRequest = {"id": uuid.uuid4().hex, "from": self.position}
        if self.resets_stores:
            asked["reset"] = True
        if self.time is not None:
            asked["time"] = int(self.time.timestamp() * 1000)
        if self.offsets:
            asked["offsets"] = {
                topic: {str(number): offset for number, offset in partitions.items()}
                for topic, partitions in self.offsets.items()
            }
        return asked

    def noted(self) -> dict[str, object]:
        """Return the details for the audit entry."""
        start: dict[str, object] = {"position": self.position}
        if self.time is not None:
            start["time"] = self.time.isoformat()
        if self.offsets:
            start["offsets"] = {topic: dict(each) for topic, each in self.offsets.items()}
        return {"reset": sorted(self.reset), "start_from": start}


def beginning_with(row: Deployment, asked: Beginning, version: int) -> StoredBegin | None:
    """Return the request to store for a version; it contains the previous request."""
    made = asked.to_request()
    before = {name: value for name, value in (row.beginning or {}).items() if name != "before"}
    if made is None:
        return None
    return cast(StoredBegin, {**made, "version": version, "before": before or None})


def beginning_without(row: Deployment, version: int) -> StoredBegin | None:
    """Return the request as it was before a version that never ran."""
    kept: StoredBegin | None = row.beginning
    if kept is None or kept.get("version") != version:
        return kept
    return kept["before"]


def request_of(row: Deployment) -> BeginRequest | None:
    """Return the stored request in the form that the driver reads."""
    if row.beginning is None:
        return None
    kept = {name: each for name, each in row.beginning.items() if name not in {"version", "before"}}
    return cast(BeginRequest, kept)


def require_name(row: Deployment, beginning: Beginning, name: str) -> None:
    """Raises ApiError for a reset without the deployment's name."""
    if beginning.reset and name != row.topology.name:
        raise ApiError(
            "name_does_not_match",
            "A reset must be confirmed with the name of the deployment.",
            f"Send “name”: “{row.topology.name}”.",
            fields={"name": [f"Type {row.topology.name}."]},
        )


def whole_topics(document: TopologyDocument) -> set[str]:
    """Return the topics of global tables and stores, which are read from the beginning."""
    return {
        str(node["params"].get("topic"))
        for node in document.get("nodes", [])
        if node.get("kind") in global_kinds()
    }


def check(
    beginning: Beginning, version: Version, topics: Iterable[str], settings: DeploymentSettings
) -> None:
    """Raise ApiError for offsets that cannot be read; `topics`: those that the version reads.

    `settings` name the environment. Raises Unavailable if the cluster does not respond.
    """
    if not beginning.offsets:
        return
    read, whole = set(topics), whole_topics(document_in(version, settings))
    for topic in sorted(beginning.offsets):
        if topic not in read:
            raise _refusal(
                "topic_not_read",
                f"Version {version.number} does not read the topic {topic}.",
                f"It reads {', '.join(sorted(read - whole))}.",
            )
        if topic in whole:
            raise _refusal(
                "topic_read_whole",
                f"The topic {topic} belongs to a global table, which is always read from the "
                "beginning.",
                "Leave it out.",
            )
        _check_partitions(topic, beginning.offsets[topic])


def _check_partitions(topic: str, offsets: Mapping[int, int]) -> None:
    held = held_of([topic])
    for number, offset in sorted(offsets.items()):
        ends = held.get((topic, number))
        if ends is None:
            raise _refusal(
                "no_such_partition",
                f"The topic {topic} has no partition {number}.",
                f"Its partitions are 0 to {len(held) - 1}.",
            )
        if not ends.earliest <= offset <= ends.latest:
            raise _refusal(
                "offset_out_of_range",
                f"{topic}-{number} has no offset {offset}.",
                f"It has {ends.earliest} to {ends.latest}, which is the end.",
                topic=topic,
                partition=number,
                earliest=ends.earliest,
                latest=ends.latest,
            )


def _refusal(code: str, message: str, hint: str, **data: Any) -> ApiError:
    return ApiError(code, message, hint, fields={"start_from": [f"{message} {hint}"]}, **data)


def held_of(topics: Iterable[str]) -> dict[tuple[str, int], Ends]:
    """Return the offsets that the cluster holds, by topic and partition; skip missing topics.

    Raises Unavailable if the cluster does not respond.
    """
    places = []
    for topic in topics:
        try:
            places += [(topic, each.id) for each in described(topic).partitions]
        except NotFound:
            continue
    return ends_of(places)


@dataclass(frozen=True)
class Place:
    """Where a partition begins, and where it stopped (None: unknown)."""

    topic: str
    partition: int
    offset: int
    latest: int
    stopped: int | None


def places(
    beginning: Beginning,
    document: TopologyDocument,
    settings: DeploymentSettings,
    topics: Iterable[str],
    stopped: Mapping[str, Mapping[int, tuple[int, int | None]]],
) -> list[Place]:
    """Return where each partition would begin now, without those of global tables.

    `stopped`: the offset of the next record and the lag, by topic and partition.
    """
    whole = whole_topics(document)
    read = [topic for topic in topics if topic not in whole]
    held = held_of(read)
    late = _starting_late(document, settings)
    timed: dict[str, dict[int, int | None]] = {}
    if beginning.time is not None:
        moment = int(beginning.time.timestamp() * 1000)
        for topic in read:
            numbers = [number for name, number in held if name == topic]
            timed[topic] = offsets_at(topic, numbers, moment)
    found = []
    for (topic, number), ends in sorted(held.items()):
        before = stopped.get(topic, {}).get(number)
        known = None if before is None else before[0]
        by_source = ends.latest if topic in late else ends.earliest
        at = timed.get(topic, {}).get(number)
        offset = {
            Position.STOPPED: known,
            Position.SOURCES: by_source,
            Position.EARLIEST: ends.earliest,
            Position.LATEST: ends.latest,
            Position.TIME: ends.latest if at is None else at,
            Position.OFFSETS: beginning.offsets.get(topic, {}).get(number, known),
        }[Position(beginning.position)]
        if offset is not None:
            found.append(Place(topic, number, offset, ends.latest, known))
    return found


def _starting_late(document: TopologyDocument, settings: DeploymentSettings) -> set[str]:
    """Return the topics that start at their ends, by the settings or by their source."""
    found: set[str] = set()
    for node in document.get("nodes", []):
        params = node.get("params", {})
        if node.get("kind") not in source_kinds():
            continue
        start = settings.get("start") or params.get("start", "earliest")
        if start == "latest":
            found |= {*params.get("topics", []), *([params["topic"]] if "topic" in params else [])}
    return found


#: effects of a start on results, by code
WARNINGS = {
    StartWarning.COUNTED_AGAIN: (
        "The stores keep their rows: records that are read again are counted again, and those of "
        "windows that have closed are dropped as late."
    ),
    StartWarning.WRITTEN_AGAIN: (
        "Results of records that are read again are written to the sinks again."
    ),
    StartWarning.SKIPPED: "Records between the position where it stopped and the start position "
    "are not read.",
    StartWarning.BEGINS_EMPTY: (
        "All stores start empty: they do not include records before the start offsets."
    ),
}


def warnings(beginning: Beginning, found: Iterable[Place]) -> list[PlanWarning]:
    """Return warnings about a start; for partitions with an unknown position, the worst case."""
    again = skipped = False
    for place in found:
        if place.stopped is None:
            again |= beginning.position != Position.LATEST
            skipped |= beginning.position not in {Position.EARLIEST, Position.SOURCES}
        else:
            again |= place.offset < place.stopped
            skipped |= place.offset > place.stopped
    codes = []
    if beginning.resets_stores:
        codes.append(StartWarning.BEGINS_EMPTY)
    elif again:
        codes.append(StartWarning.COUNTED_AGAIN)
    if again:
        codes.append(StartWarning.WRITTEN_AGAIN)
    if skipped:
        codes.append(StartWarning.SKIPPED)
    return [{"code": code.value, "message": WARNINGS[code]} for code in codes]
