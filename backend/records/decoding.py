"""Records in the formats of a topology's node: Avro, Protobuf, schema registries, JSON by schema.

They are read by the operator itself, in the simulator: a source with the node's formats and a sink.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.models import User, Workspace
from millrace_backend.errors import ApiError, NotFound, Unavailable
from topologies.simulating import ask

from records.choices import RecordFormat
from records.codecs import Decoded
from records.reading import Raw
from records.uses import uses_of

#: records that are decoded at once
MOST_DECODED = 200


@dataclass(frozen=True)
class Reader:
    """A node of a topology whose formats are used, for a person."""

    person: User
    key: Mapping[str, Any]
    value: Mapping[str, Any]

    @classmethod
    def of(cls, person: User, workspace: Workspace, topic: str, name: str) -> Reader:
        """The reader called `topology:node`. Raises NotFound where it does not use the topic."""
        topology, _, node = name.partition(":")
        for use in uses_of(workspace, topic):
            if str(use["topology"]) == topology and use["node"] == node:
                return cls(person, use["key"], use["value"])
        raise NotFound(
            "no_such_reader",
            f"No node {name!r} of a saved topology reads or writes {topic} in formats of its own.",
            "GET the topic's uses for those that do.",
            fields={"reader": ["Not a node that uses the topic."]},
        )

    def decoded(self, records: Sequence[Raw]) -> list[tuple[Decoded, Decoded]]:
        """Key and value of each record; as hexadecimal digits, with the reason, where not of it.

        Raises Unavailable while the simulator starts, ApiError for a schema that cannot be had.
        """
        if not records:
            return []
        answer = ask(
            {
                "do": "simulate",
                "owner": f"person {self.person.pk}",
                "document": self._document(),
                "inputs": [_line(record) for record in records],
                "trace": 0,
                "expected": None,
            }
        )
        if answer.get("state") == "starting":
            raise Unavailable(
                "simulator_starting",
                "The simulator, which reads these formats, is starting.",
                "Try again in a few seconds.",
            )
        if answer["result"] is None:
            found = [each for each in answer["diagnostics"] if each["severity"] == "error"]
            raise ApiError("unreadable_format", found[0]["message"], found[0].get("hint") or "")
        outputs = {each["after"]: each for each in answer["result"]["outputs"]}
        return [
            self._parts(record, outputs.get(number)) for number, record in enumerate(records, 1)
        ]

    def _document(self) -> dict[str, Any]:
        source = {"topics": ["records"], "key": dict(self.key), "value": dict(self.value)}
        return {
            "format": "millrace.topology/1",
            "name": "decode",
            "settings": {"deserialization_handler": "continue"},
            "nodes": [
                {"id": "in", "kind": "source.stream", "params": source},
                {"id": "out", "kind": "sink.topic", "params": {"topic": "decoded"}},
            ],
            "edges": [{"source": "in", "target": "out"}],
        }

    def _parts(self, record: Raw, output: Mapping[str, Any] | None) -> tuple[Decoded, Decoded]:
        if output is None:
            error = (
                f"Not of the formats {self.key['format']} (key), {self.value['format']} (value)."
            )
            return _bytes(record.key, error), _bytes(record.value, error)
        return (
            _part(record.key, output["key"], str(self.key["format"])),
            _part(record.value, output["value"], str(self.value["format"])),
        )


def _line(record: Raw) -> dict[str, Any]:
    line: dict[str, Any] = {"topic": "records", "timestamp": max(record.timestamp, 0)}
    for part, raw in (("key", record.key), ("value", record.value)):
        if raw is None:
            line[part] = None
        else:
            line[f"{part}_bytes"] = base64.b64encode(raw).decode()
    return line


def _part(raw: bytes | None, value: Any, format: str) -> Decoded:
    if raw is None:
        return Decoded("null", None, 0)
    if format == "bytes":
        return Decoded(RecordFormat.BYTES, raw.hex(), len(raw))
    if format == "string":
        return Decoded(RecordFormat.STRING, str(value), len(raw))
    return Decoded(format, json.dumps(value, ensure_ascii=False), len(raw))


def _bytes(raw: bytes | None, error: str) -> Decoded:
    if raw is None:
        return Decoded("null", None, 0)
    return Decoded(RecordFormat.BYTES, raw.hex(), len(raw), error)
