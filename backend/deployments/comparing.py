"""Compares what a shadow and its deployment have written for the same records.

The drivers note the ends of the output topics at input offsets that both have reached; the records
in between are compared. Workers do this in short steps: they read the topics into a file, then
match its records (`output_diff`). Repeating a step has no further effect.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from accounts.choices import Role
from accounts.events import audit
from accounts.models import User
from accounts.permissions import require
from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from kombu.exceptions import KombuError
from millrace_backend import kafka, queue
from millrace_backend.errors import ApiError, Conflict, NotFound
from millrace_compiler.graphs.kinds import sink_kinds
from millrace_model.documents import TopologyDocument
from millrace_model.shadows import ComparedTopic, KeptComparison, OutputExample, OutputRecord
from records.codecs import decode
from records.reading import Scan
from records.topics import described, ends_of
from redis.exceptions import RedisError

from deployments import files
from deployments.choices import ComparisonState
from deployments.environments import document_in
from deployments.models import Deployment, Shadow
from deployments.output_diff import (
    BUCKET,
    EXAMPLES,
    RUNNING,
    SHADOW,
    OutputDiff,
    RawExample,
    RawRecord,
)
from deployments.shadows import shadow_of

TASK = "millrace_workers.tasks.compare_outputs"
#: records that one step reads
STEP = 20_000
#: time after which a comparison that no worker has advanced is resumed
ABANDONED = timedelta(seconds=30)
_GOING = {ComparisonState.READING, ComparisonState.MATCHING}

#: by partition: first offset, and end offset (exclusive)
Ranges = dict[int, tuple[int, int]]


@dataclass(frozen=True)
class Lane:
    """A topic of one side, and the ranges to compare. `topic`: its name in the running version."""

    side: int
    topic: str
    name: str
    ranges: Ranges


def begin(actor: User, row: Deployment) -> KeptComparison:
    """Begin a comparison, which replaces the last one.

    Raises NotFound without a shadow, Conflict while a comparison is running or before both have
    written for the same records.
    """
    require(actor, row.workspace_id, Role.OPERATOR)
    with transaction.atomic():
        Shadow.objects.select_for_update().filter(of=row).first()
        shadow = shadow_of(row)
        if shadow.comparison and shadow.comparison["state"] in _GOING:
            raise Conflict(
                "compares_already", "The outputs are being compared.", "Wait, or cancel it."
            )
        noted = shadow.noted
        if "began" not in noted or "reached" not in noted:
            raise Conflict(
                "nothing_to_compare",
                "The shadow has not yet processed records that the deployment has processed.",
                "Wait until both have finished a micro-batch.",
            )
        now = timezone.now().isoformat()
        run = row.live_run
        found: KeptComparison = {
            "state": ComparisonState.READING.value,
            "read": 0,
            "total": 0,
            "started_at": now,
            "advanced_at": now,
            "finished_at": None,
            "error": None,
            "running_version": (run.version if run is not None else row.version).number,
            "shadow_version": shadow.deployment.version.number,
            "began": noted["began"],
            "reached": noted["reached"],
            "next": None,
            "topics": [],
        }
        shadow.comparison = found
        shadow.save(update_fields=["comparison"])
        audit(
            actor, row.workspace_id, "deployment.compare", "deployment", row.pk,
            topology=row.topology.name,
        )  # fmt: skip
        transaction.on_commit(lambda: _wake(shadow.pk), robust=True)
    return found


def cancel(actor: User, row: Deployment) -> None:
    """Cancel a comparison; no effect if it has ended. Raises NotFound without a shadow."""
    require(actor, row.workspace_id, Role.OPERATOR)
    shadow = shadow_of(row)
    if shadow.comparison and shadow.comparison["state"] in _GOING:
        _end(shadow.pk, ComparisonState.CANCELED)


def due() -> list[int]:
    """Return the ids of shadows whose comparison is no longer advanced by any worker."""
    found = []
    for shadow in Shadow.objects.exclude(comparison=None):
        state = shadow.comparison or {}
        advanced = parse_datetime(state.get("advanced_at") or "")
        if state.get("state") in _GOING and advanced and timezone.now() - advanced > ABANDONED:
            found.append(shadow.pk)
    return found


def advance(pk: int) -> bool:
    """Do one step of a comparison; return whether another one must follow."""
    shadow = Shadow.objects.select_related("deployment", "of").filter(pk=pk).first()
    if shadow is None or not shadow.comparison or shadow.comparison["state"] not in _GOING:
        return False
    shadow.deployment.directory.mkdir(parents=True, exist_ok=True)
    try:
        opened = _lock(shadow)
    except OSError as error:
        _end(pk, ComparisonState.FAILED, error=f"The records cannot be compared: {error}")
        return False
    with os.fdopen(opened, "wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False  # another worker holds the lock
        try:
            return _step(shadow, shadow.comparison)
        except ApiError as error:
            _end(pk, ComparisonState.FAILED, error=error.message)
        except (sqlite3.Error, OSError) as error:
            # The disk is full, or the file was deleted because the comparison was canceled.
            _end(pk, ComparisonState.FAILED, error=f"The records cannot be compared: {error}")
        return False


def _step(shadow: Shadow, state: KeptComparison) -> bool:
    lanes = list(_lanes(shadow, state))
    total = sum(high - low for lane in lanes for low, high in lane.ranges.values())
    file = _file(shadow)
    if state["next"] is None:
        shutil.rmtree(file.parent, ignore_errors=True)
        file.parent.mkdir(parents=True)
        return _keep(shadow.pk, {"next": 0, "total": total})
    os.close(files.descriptor(shadow.deployment.directory, file, os.O_RDWR | os.O_CREAT))
    diff = OutputDiff(file, buckets=total // BUCKET + 1)
    try:
        if state["state"] == ComparisonState.READING:
            read = _read(diff, lanes)
            if read:
                return _keep(shadow.pk, {"read": min(total, state["read"] + read)})
            begun = {"state": ComparisonState.MATCHING.value, "read": total}
            return _keep(shadow.pk, {**begun, "topics": _topics(shadow, lanes)})
        return _match(shadow.pk, state, diff)
    finally:
        diff.close()


def _lanes(shadow: Shadow, state: KeptComparison) -> Iterator[Lane]:
    """Yield the topics of each side, with the ranges written between the two noted ends."""
    for side, which in ((RUNNING, "theirs"), (SHADOW, "ours")):
        before, after = state["began"][which], state["reached"][which]  # type: ignore[literal-required] # of both
        for name, partitions in sorted(after.items()):
            ranges = {}
            for number, (first, end) in partitions.items():
                known = before.get(name, {}).get(number)
                low = first if known is None else known[1]
                if low < end:
                    ranges[int(number)] = (low, end)
            topic = name.removesuffix(shadow.suffix) if side == SHADOW else name
            yield Lane(side, topic, name, ranges)


def _read(diff: OutputDiff, lanes: list[Lane]) -> int:
    """Read on in the first incomplete topic; return by how many offsets, 0 at the end."""
    for lane in lanes:
        places = diff.places(lane.side, lane.topic)
        left = {
            number: (places.get(number, low), high)
            for number, (low, high) in lane.ranges.items()
            if places.get(number, low) < high
        }
        if not left:
            continue
        left = _held(lane, left)
        if not any(low < high for low, high in left.values()):
            diff.add(
                lane.side, lane.topic, [], {number: high for number, (_, high) in left.items()}
            )
            return sum(high - low for low, high in lane.ranges.values())
        with kafka.readers.one() as consumer, kafka.failures():
            take = partial(diff.row, lane.side, lane.topic)
            page = Scan(consumer, lane.name, take).page(left, STEP, backwards=False)
        diff.add(lane.side, lane.topic, [row.content for row in page.rows], page.next)  # type: ignore[misc] # rows of the diff
        return max(1, sum(page.next[number] - low for number, (low, _) in left.items()))
    return 0


def _held(lane: Lane, ranges: Ranges) -> Ranges:
    """Return the ranges without records that the broker deleted; a missing topic has none."""
    try:
        described(lane.name)
    except NotFound:
        return {number: (high, high) for number, (_, high) in ranges.items()}
    held = ends_of((lane.name, number) for number in ranges)
    return {
        number: (min(high, max(low, held[lane.name, number].earliest)), high)
        for number, (low, high) in ranges.items()
    }


def _topics(shadow: Shadow, lanes: list[Lane]) -> list[ComparedTopic]:
    """Return an entry for each output topic, with the sinks that write it in either version."""
    found: dict[str, ComparedTopic] = {}
    documents = [document_in(row.version, row.settings) for row in (shadow.of, shadow.deployment)]
    for lane in lanes:
        entry = found.setdefault(
            lane.topic,
            {
                "topic": lane.topic,
                "sinks": _sinks(documents, lane.topic),
                "equal": 0,
                "reordered": 0,
                "differing": 0,
                "only_running": 0,
                "only_shadow": 0,
                "deleted": 0,
                "examples": [],
            },
        )
        if lane.ranges:
            held = _held(lane, lane.ranges)
            entry["deleted"] += sum(held[n][0] - low for n, (low, _) in lane.ranges.items())
    return [found[topic] for topic in sorted(found)]


def _sinks(documents: list[TopologyDocument], topic: str) -> list[str]:
    return sorted(
        {
            node["id"]
            for document in documents
            for node in document.get("nodes", [])
            if node["kind"] in sink_kinds() and (node.get("params") or {}).get("topic") == topic
        }
    )


def _match(pk: int, state: KeptComparison, diff: OutputDiff) -> bool:
    """Compare the next part of a topic; return whether there are more."""
    topics, number = state["topics"], state["next"] or 0
    which, bucket = divmod(number, diff.buckets)
    if which >= len(topics):
        _end(pk, ComparisonState.DONE)
        return False
    entry = topics[which]
    counts, examples = diff.match(entry["topic"], bucket)
    entry["equal"] += counts.equal
    entry["reordered"] += counts.reordered
    entry["differing"] += counts.differing
    entry["only_running"] += counts.only_running
    entry["only_shadow"] += counts.only_shadow
    for example in examples:
        if sum(each["kind"] == example["kind"] for each in entry["examples"]) < EXAMPLES:
            entry["examples"].append(_readable(example))
    return _keep(pk, {"topics": topics, "next": number + 1})


def _readable(example: RawExample) -> OutputExample:
    """Return the example with its key and values as text."""

    def side(record: RawRecord | None) -> OutputRecord | None:
        if record is None:
            return None
        return {
            "partition": record["partition"],
            "offset": record["offset"],
            "timestamp": record["timestamp"],
            "value": decode(record["value"]).text,
            "headers": record["headers"],
        }

    return {
        "kind": example["kind"],
        "key": decode(example["key"]).text,
        "running": side(example["running"]),
        "shadow": side(example["shadow"]),
    }


def _keep(pk: int, what: Mapping[str, object]) -> bool:
    """Save a step; return False if the comparison was canceled in the meantime."""
    with transaction.atomic():
        shadow = Shadow.objects.select_for_update().filter(pk=pk).first()
        if shadow is None or not shadow.comparison or shadow.comparison["state"] not in _GOING:
            return False
        shadow.comparison |= {**what, "advanced_at": timezone.now().isoformat()}
        shadow.save(update_fields=["comparison"])
    return True


def _end(pk: int, state: ComparisonState, error: str | None = None) -> None:
    what = {"state": state.value, "error": error, "finished_at": timezone.now().isoformat()}
    if _keep(pk, what):
        shadow = Shadow.objects.select_related("deployment").get(pk=pk)
        shutil.rmtree(_file(shadow).parent, ignore_errors=True)


def _lock(shadow: Shadow) -> int:
    directory = shadow.deployment.directory
    return files.descriptor(directory, directory / "comparison.lock", os.O_WRONLY | os.O_CREAT)


def _file(shadow: Shadow) -> Path:
    return shadow.deployment.directory / "comparison" / "records.sqlite"


def _wake(pk: int) -> None:
    try:
        queue.send(TASK, pk, expires=30)
    except (KombuError, RedisError, OSError):
        return  # the workers find it after a while (`due`)
