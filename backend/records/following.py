"""Follow one record: the input of a deployment around it, as input lines of a simulation.

The page, or a script, simulates the running version on these lines. If possible, stores begin as
they were in the deployment after an earlier micro-batch (`records.batches`). Otherwise they start
empty, and the response states why, at which offset the lines begin and what was left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, cast

from accounts.models import User
from deployments.cluster import list_topics
from deployments.environments import document_in, environment_of
from deployments.models import Deployment
from deployments.plain_dialect import refuse_plain
from deployments.state_plan import checkpoint_notes
from millrace_backend.errors import ApiError, Conflict, NotFound
from millrace_compiler.documents.topic_patterns import topic_pattern
from millrace_compiler.graphs.kinds import global_kinds
from millrace_model.documents import DocumentNode, Format, TopologyDocument
from millrace_model.drivers import DeploymentSettings
from topologies.models import Version
from topologies.topics import topic_failure

from records import batches, windows
from records.choices import (
    EmptyBecause,
    Partitions,
    RecordFormat,
    Start,
    Stopped,
    Stores,
)
from records.codecs import Decoded, Undecodable
from records.decoding import Reader, decoded_by_schema
from records.filters import Filter
from records.queries import Asked, RecordPage, read_page
from records.reading import Raw
from records.sampling import READ, Mask, SampleRequest, line_of, masked_paths
from records.windows import Window

#: maximum number of records before and after the followed one; a simulation accepts 2,000
MOST_BEFORE, MOST_AFTER = 1_500, 400
#: maximum number of topics of a version that are read
MOST_TOPICS = 20


class Formats(TypedDict):
    """The formats of a source."""

    key: Format
    value: Format


@dataclass(frozen=True)
class FollowRequest:
    """A record, by its offset or as the newest one with a key or a text, and what to read around
    it.
    """

    topic: str
    partition: int | None = None
    offset: int | None = None
    key: str | None = None
    contains: str = ""
    #: `cursor` of the previous response of a search
    cursor: str = ""
    before: int = 500
    after: int = 50
    partitions: str = Partitions.AUTO
    stores: str = Stores.CHECKPOINT
    #: only records whose key has the same bytes
    same_key: bool = False
    headers: bool = True
    masks: Mapping[str, Mask] = field(default_factory=dict)


def follow(deployment: Deployment, person: User, request: FollowRequest) -> dict[str, Any]:
    """Return the input lines around a record, with the document that the deployment runs.

    `state` is `searching` if the next request, with `cursor`, continues the search, and `starting`
    while the process that reads checkpoints is starting.

    Raises NotFound for a topic that no source reads or that the workspace may not use, and for a
    record that does not exist; ApiError for masks that cannot be applied.
    """
    refuse_plain(deployment, "follow a record")
    version = _version(deployment)
    document = document_in(version, _settings(deployment))
    failure = topic_failure(document, deployment.workspace.topic_prefixes)
    if failure is not None:
        raise NotFound(failure["code"], failure["message"], facts=failure["facts"])
    sources = _sources(document, request.topic)
    if request.topic not in sources:
        if request.topic.endswith("-repartition"):
            raise NotFound(
                "internal_topic",
                f"{request.topic[:249]} is an internal topic, whose records are not on the broker.",
                "Follow the input record from which they were made. The sources read: "
                f"{', '.join(sorted(sources)) or 'no topic by name'}.",
                fields={"topic": ["It is an internal topic."]},
            )
        raise NotFound(
            "no_such_source",
            f"Version {version.number} has no source that reads {request.topic[:249]}.",
            f"Its sources read: {', '.join(sorted(sources)) or 'no topic by name'}.",
            fields={"topic": ["No source reads it."]},
        )
    found: dict[str, object] = {
        "version": version.number,
        "document": document,
        "topic_partitions": _topic_partitions(deployment, document, sources),
    }
    partition, offset = request.partition, request.offset
    if partition is None or offset is None:
        page = _searched(person, sources[request.topic], request)
        found |= {"scanned": page["scanned"], "cursor": page["next"]}
        if not page["records"]:
            ended = page["stopped"] == Stopped.END.value
            return {**found, "state": "not_found" if ended else "searching"}
        newest = page["records"][0]
        partition, offset = newest["partition"], newest["offset"]
    because = _empty_because(deployment, request, document, sources)
    if because is None:
        try:
            checkpoint = batches.checkpoint_of(deployment, person)
            if checkpoint is None:
                return {**found, "state": "starting"}
            begun = _whole_batches(deployment, sources, request, partition, offset, checkpoint)
            return {**found, "state": "found", **begun}
        except Conflict:
            because = EmptyBecause.NO_STATE.value
        except batches.NoSpan as none:
            because = none.because
    lines = _lines(deployment, person, sources, request, partition, offset)
    return {**found, "state": "found", "begins": None, "empty_because": because, **lines}


def deployed_document(deployment: Deployment) -> tuple[TopologyDocument, str | None]:
    """Return the document and the environment of the running version, or of the one that a stopped
    deployment would run.
    """
    document: TopologyDocument = _version(deployment).document
    return document, environment_of(_settings(deployment))


def _empty_because(
    deployment: Deployment,
    request: FollowRequest,
    document: TopologyDocument,
    sources: Collection[str],
) -> str | None:
    """Return why the checkpoint's stores would not fit the lines, or None if they do."""
    if request.stores == Stores.EMPTY:
        return EmptyBecause.ASKED.value
    if request.masks or request.same_key or not request.headers:
        return EmptyBecause.CHANGED.value
    if not _sources_apart(document, sources):
        return EmptyBecause.LOOP.value
    return EmptyBecause.NO_STATE.value if checkpoint_notes(deployment) is None else None


def _sources_apart(document: TopologyDocument, sources: Collection[str]) -> bool:
    """Return whether no sink writes, by name, a topic that is read."""
    sinks = (node for node in document["nodes"] if node["kind"].startswith("sink."))
    return not any((node.get("params") or {}).get("topic") in sources for node in sinks)


def _version(deployment: Deployment) -> Version:
    """Return the running version, or the one that a stopped deployment would run."""
    run = deployment.runs.filter(ended_at__isnull=True).select_related("version").first()
    return deployment.version if run is None else run.version


def _settings(deployment: Deployment) -> DeploymentSettings:
    """Return the settings of the running driver, or those that the next one gets."""
    run = deployment.runs.filter(ended_at__isnull=True).first()
    settings: DeploymentSettings | None = None if run is None else run.settings
    return deployment.settings if settings is None else settings


def _sources(document: TopologyDocument, wanted: str) -> dict[str, DocumentNode]:
    """Return source nodes by the topics that they read by name, with `wanted` first.

    Of the topics that match a pattern, only `wanted` is included.
    """
    found: dict[str, DocumentNode] = {}
    for node in document["nodes"]:
        if not node["kind"].startswith("source."):
            continue
        params = node.get("params") or {}
        pattern = params.get("topic_pattern")
        names = params.get("topics") or [params.get("topic")]
        if isinstance(pattern, str) and topic_pattern(pattern).matches(wanted):
            names = [wanted]
        for name in names:
            if isinstance(name, str) and name:
                found.setdefault(name, node)
    ordered = sorted(found, key=lambda name: name != wanted)
    return {name: found[name] for name in ordered[:MOST_TOPICS]}


def _topic_partitions(
    deployment: Deployment, document: TopologyDocument, sources: Collection[str]
) -> dict[str, int]:
    """Return the number of partitions of the deployment's topics, which determines its tasks."""
    sinks = {
        (node.get("params") or {}).get("topic")
        for node in document["nodes"]
        if node["kind"].startswith("sink.")
    }
    names = {*sources, *sinks, *(document.get("topics") or {})}
    return {
        topic["name"]: topic["partitions"]
        for topic in list_topics(deployment.workspace.topic_prefixes)
        if topic["name"] in names
    }


def _formats(source: DocumentNode) -> Formats:
    """Return the formats of `key` and `value`."""
    params = source.get("params") or {}
    text: Format = {"format": "string"}
    return {"key": params.get("key") or text, "value": params.get("value") or text}


def _searched(person: User, source: DocumentNode, request: FollowRequest) -> RecordPage:
    """Return a page with the newest record that has the key or contains the text."""
    if request.key is None and not request.contains:
        raise ApiError(
            "invalid",
            "No record is specified.",
            "Send partition and offset, or key, or contains.",
            fields={"key": ["Send this, or partition and offset, or contains."]},
        )
    wanted = Filter(request.contains.casefold())
    if request.key is not None:
        wanted = Filter(request.contains.casefold(), "key", (), request.key)
    formats = _formats(source)
    key, value = formats["key"]["format"], formats["value"]["format"]
    simple = {*READ, RecordFormat.BYTES}
    # The simulator reads Avro, Protobuf and the formats of schema registries.
    reader = None if {key, value} <= simple else Reader(person, **formats)
    return read_page(
        request.topic,
        Asked(
            start=Start.LATEST,
            limit=1,
            key_format=key if key in simple else RecordFormat.AUTO,
            value_format=value if value in simple else RecordFormat.AUTO,
            filter=wanted,
            reader=reader,
            cursor=request.cursor,
        ),
    )


def _lines(
    deployment: Deployment,
    person: User,
    sources: Mapping[str, DocumentNode],
    request: FollowRequest,
    partition: int,
    offset: int,
) -> dict[str, object]:
    """Return the lines around a record, with the partitions merged as a task merges them."""
    followed = windows.one(request.topic, partition, offset)
    key = followed.key if request.same_key else None

    def take(record: Raw) -> Raw | None:
        return None if request.same_key and record.key != key else record

    every = _every_partition(deployment, request)
    read: list[Window] = []
    place = (request.topic, partition)
    for topic, source in sources.items():
        globally = source["kind"] in global_kinds()
        own = windows.around(topic, followed, place, every=every or globally)
        before = max(1, request.before // len(sources)) if request.before else 0
        after = max(1, request.after // len(sources)) if request.after else 0
        windows.read(own, before, take, backwards=True)
        if topic == request.topic:
            mine = next(each for each in own if each.partition == partition)
            mine.records.append(followed)
            mine.bound = offset + 1
        windows.read(own, after, take, backwards=False)
        read += own
    masks = masked_paths(request.masks)
    lines, skipped, input_ = [], 0, None
    merged = list(windows.merged(read))
    # Without masks, formats with a schema need not be decoded: their bytes are used.
    decoded = _decoded(person, sources, merged) if masks else [{}] * len(merged)
    for (window, record), parts in zip(merged, decoded, strict=True):
        formats = _formats(sources[window.topic])
        sample = SampleRequest(
            0, Start.LATEST, **formats, masks=request.masks, headers=request.headers
        )
        try:
            line = line_of(deployment.workspace, window.topic, record, sample, masks, parts)
        except Undecodable:
            skipped += 1
            if record is followed:
                raise ApiError(
                    "unreadable_record",
                    "The record cannot be deserialized, so its fields cannot be masked.",
                    "Follow it without masks.",
                ) from None
            continue
        lines.append({**line, "offset": record.offset})
        if record is followed:
            input_ = len(lines)
    return {
        "lines": lines,
        "input": input_,
        "skipped": skipped,
        "record": _place(request.topic, partition, offset, followed),
        "partitions": [window.shown() for window in read],
    }


def _decoded(
    person: User,
    sources: Mapping[str, DocumentNode],
    merged: Sequence[tuple[Window, Raw]],
) -> list[dict[str, Decoded]]:
    """Return the decoded parts of each record whose formats need a schema, by part."""
    found: list[dict[str, Decoded]] = [{}] * len(merged)
    for topic, source in sources.items():
        own = [n for n, (window, _) in enumerate(merged) if window.topic == topic]
        records = [merged[n][1] for n in own]
        for n, parts in zip(
            own,
            decoded_by_schema(person, cast(Mapping[str, Format], _formats(source)), records),
            strict=True,
        ):
            found[n] = parts
    return found


def _whole_batches(
    deployment: Deployment,
    sources: Mapping[str, DocumentNode],
    request: FollowRequest,
    partition: int,
    offset: int,
    checkpoint: batches.Checkpoint,
) -> dict[str, object]:
    """Return the records of whole micro-batches, in the order in which the job read them.

    Between two batches the wall clock advances, if processors read it. Raises NoSpan.
    """
    followed = windows.one(request.topic, partition, offset)
    every = _every_partition(deployment, request)
    place = (request.topic, partition)
    read = [
        window
        for topic, source in sources.items()
        for window in windows.around(
            topic, followed, place, every=every or source["kind"] in global_kinds()
        )
    ]
    earliest = {(each.topic, each.partition): each.ends.earliest for each in read}
    span = batches.chosen(
        checkpoint.batches,
        (place, offset),
        earliest,
        before=request.before,
        after=request.after,
        most=MOST_BEFORE + MOST_AFTER,
    )
    windows.read_span(read, span, (place, offset), MOST_BEFORE + MOST_AFTER)
    records = (
        ((each.topic, each.partition), record.offset, record.timestamp, (each, record))
        for each in read
        for record in each.records
    )
    lines: list[dict[str, object]] = []
    input_, turn = None, 0
    masks = masked_paths({})
    for at, (window, record) in batches.in_order(span, records):
        lines += _ticks(span, turn, at) if checkpoint.clock else []
        turn = at
        formats = _formats(sources[window.topic])
        sample = SampleRequest(0, Start.LATEST, **formats, headers=True)
        line = line_of(deployment.workspace, window.topic, record, sample, masks, {})
        lines.append({**line, "offset": record.offset})
        if (window.topic, window.partition, record.offset) == (*place, offset):
            input_ = len(lines)
    return {
        "lines": lines,
        "input": input_,
        "skipped": 0,
        "record": _place(request.topic, partition, offset, followed),
        "partitions": [window.shown() for window in read],
        "begins": {
            "batch": span.begins.number,
            "at": span.begins.at,
            "tasks": None if every else checkpoint.tasks(partition),
        },
        "empty_because": None,
    }


def _ticks(span: batches.Span, before: int, now: int) -> list[dict[str, object]]:
    """Return the line that advances the wall clock from one batch to another, if any."""
    known = [span.begins.at, *(batch.at for batch in span.done)]
    last = len(span.done)
    passed = known[min(now, last)] - known[min(before, last)]
    return [{"advance_wall_clock": passed}] if passed > 0 else []


def _place(topic: str, partition: int, offset: int, followed: Raw) -> dict[str, object]:
    place = {"topic": topic, "partition": partition, "offset": offset}
    return {**place, "timestamp": followed.timestamp}


def _every_partition(deployment: Deployment, request: FollowRequest) -> bool:
    """Return whether other tasks' partitions matter because records pass repartition topics."""
    if request.partitions != Partitions.AUTO:
        return request.partitions == Partitions.ALL
    notes = checkpoint_notes(deployment)
    return notes is None or notes.get("levels", 2) > 1
