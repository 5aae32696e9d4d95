"""Scenarios with their keys spread over the partitions of a real broker.

Kafka Streams assigns each input partition to its own task. So the oracle runs once per partition,
on the records that Kafka's default partitioner sends there, in the order in which a task processes
them: the topic-partition with the smallest head timestamp first [PL1].
"""

from __future__ import annotations

import base64
import copy
import json
import operator
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from millrace_runtime import columns

PARTITIONS = 4
#: ms added to all timestamps, since 0 means now to the client that writes them.
DAY = 86_400_000
Line = dict[str, Any]
#: a record's key, value, timestamp and headers as comparable text
Seen = str


def to_bytes(line: Line, formats: dict[str, Any]) -> tuple[bytes | None, bytes | None]:
    """Return key and value of an input line in Kafka's bytes."""
    encode = columns.gateway().Simulation.encode
    found = []
    for name in ("key", "value"):
        text = line.get(f"{name}_bytes")
        if text is None:
            text = encode(json.dumps(formats[name]), json.dumps(line.get(name)))
        found.append(None if text is None else base64.b64decode(text))
    return found[0], found[1]


def murmur2(data: bytes) -> int:
    """Return Kafka's hash, written for this test from its description."""
    mask, multiplier = 0xFFFFFFFF, 0x5BD1E995
    result = (0x9747B28C ^ len(data)) & mask
    words = len(data) // 4
    for word in struct.unpack(f"<{words}I", data[: words * 4]):
        mixed = word * multiplier & mask
        mixed = (mixed ^ mixed >> 24) * multiplier & mask
        result = (result * multiplier & mask) ^ mixed
    rest = data[words * 4 :]
    if rest:
        result = (result ^ int.from_bytes(rest, "little")) * multiplier & mask
    result = (result ^ result >> 13) * multiplier & mask
    return result ^ result >> 15


def partition_of(key: bytes | None, number: int) -> int:
    """Return the default partitioner's partition; records without a key are assigned in turn."""
    return number % PARTITIONS if key is None else (murmur2(key) & 0x7FFFFFFF) % PARTITIONS


def renamed(
    document: dict[str, Any], prefix: str, partitions: int | None = PARTITIONS
) -> dict[str, Any]:
    """Return the document with a prefix before all topics, each with this many partitions."""
    changed = copy.deepcopy(document)
    for node in changed["nodes"]:
        params = node.get("params", {})
        if "topics" in params:
            params["topics"] = [prefix + topic for topic in params["topics"]]
        if "topic" in params:
            params["topic"] = prefix + params["topic"]
        if "topic_pattern" in params:
            params["topic_pattern"] = f"{prefix}(?:{params['topic_pattern']})"
        if "topic_expression" in params:
            params["topic_expression"] = f"'{prefix}' || ({params['topic_expression']})"
    settings = changed.get("settings") or {}
    if "dead_letter_topic" in settings:
        settings["dead_letter_topic"] = prefix + settings["dead_letter_topic"]
    changed["topics"] = {
        prefix + name: {**topic, "partitions": partitions} if partitions else topic
        for name, topic in (document.get("topics") or {}).items()
    }
    return changed


def moves_records(document: dict[str, Any]) -> bool:
    """Whether records must move between tasks: by a repartition, or by a new key before state."""
    rekeyed = {"select_key", "map", "flat_map", "process"}
    plain = {*rekeyed, "filter", "filter_not", "map_values", "flat_map_values", "peek", "merge"}
    plain |= {"split", "process_values", "sink.topic", "sink.print", "to_stream"}
    kinds = {node["id"]: node["kind"] for node in document["nodes"]}
    if any(node.get("params", {}).get("group_by") for node in document["nodes"]):
        return True
    if any("group_by" in each for n in document["nodes"] for each in n["params"].get("inputs", [])):
        return True
    if {"repartition", "join.foreign_key"} & set(kinds.values()):
        return True
    reached = {id for id, kind in kinds.items() if kind in rekeyed}
    for _ in kinds:
        reached |= {e["target"] for e in document["edges"] if e["source"] in reached}
    return any(kinds[id] not in plain for id in reached)


def widened(lines: Sequence[Line], copies: int = 4) -> list[Line]:
    """Return each line under several keys, if its key is text, to fill the partitions."""
    made = []
    for line in lines:
        for copy_number in range(copies):
            another = dict(line)
            if isinstance(line.get("key"), str) and copy_number:
                another["key"] = f"{line['key']}{copy_number}"
            elif copy_number:
                continue
            made.append(another)
    return made


def in_order(
    lines: Iterable[tuple[Line, int]],
    time: Callable[[Line], int] = operator.itemgetter("timestamp"),
) -> list[Line]:
    """Return the lines in a task's processing order: smallest head timestamp first [PL1].

    `time`: the timestamp that the source assigns to a line.
    """
    queues: dict[tuple[str, int], list[Line]] = defaultdict(list)
    for line, partition in lines:
        queues[line["topic"], partition].append(line)
    taken = []
    while queues:
        head = min(queues, key=lambda place: (time(queues[place][0]), place))
        taken.append(queues[head].pop(0))
        if not queues[head]:
            del queues[head]
    return taken


def shown(record: dict[str, Any]) -> Seen:
    """Return an output record of the broker or the oracle as comparable text."""
    key, value = (_plain(record[name]) for name in ("key", "value"))
    headers = record.get("headers") or {}
    kept = {n: t for n, t in headers.items() if not n.startswith("__streams.errors.")}
    return json.dumps([key, value, record["timestamp"], kept], sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Remove null fields; 2.0 becomes 2."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, float) and value == int(value):
        return int(value)
    return value


def decode(data: bytes | None, format: dict[str, Any]) -> Any:
    """Return the bytes of a topic as values in a scenario's lines."""
    if data is None:
        return None
    name = format["format"]
    plain = {"integer": ">i", "long": ">q", "float": ">f", "double": ">d", "boolean": ">?"}
    if name in plain:
        return struct.unpack(plain[name], data)[0]
    if name == "bytes":
        return base64.b64encode(data).decode()
    return json.loads(data) if name == "json" else data.decode()


def interleaved(found: Sequence[Seen], parts: Sequence[Sequence[Seen]]) -> bool:
    """Whether a partition has exactly the records of its writing tasks, each task's in order."""
    if sorted(found) != sorted(each for part in parts for each in part):
        return False

    @cache
    def fits(taken: tuple[int, ...]) -> bool:
        at = sum(taken)
        if at == len(found):
            return True
        return any(
            fits((*taken[:n], taken[n] + 1, *taken[n + 1 :]))
            for n, part in enumerate(parts)
            if taken[n] < len(part) and part[taken[n]] == found[at]
        )

    return fits((0,) * len(parts))
