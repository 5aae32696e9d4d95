"""Decoding of records in the formats of a topology's node, which may need a schema.

The stateful operator itself reads them, in the simulator: a document has a source with the node's
formats and a sink.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from accounts.models import User, Workspace
from millrace_backend.errors import ApiError, NotFound, Unavailable, cause
from millrace_model.diagnostics import DiagnosticJson
from millrace_model.documents import DocumentNode, Format, TopologyDocument
from millrace_model.records import InputLine, OutputLine
from millrace_model.simulations import SimulationResult
from topologies.simulating import ask

from records.choices import RecordFormat
from records.codecs import Decoded, decode
from records.reading import Raw
from records.types import BY_SCHEMA, by_schema, types_of
from records.uses import uses_of

Part = Literal["key", "value"]
PARTS: tuple[Part, ...] = ("key", "value")
#: maximum number of records decoded by one simulation
MOST_DECODED = 200


@dataclass(frozen=True)
class Reader:
    """Decodes records in formats of the document, on behalf of a person.

    `own`: by part, formats that are decoded without the simulator and take precedence.
    """

    person: User
    key: Format
    value: Format
    own: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, person: User, workspace: Workspace, topic: str, name: str) -> Reader:
        """Return the reader `topology:node`. Raises NotFound if the node does not use the topic."""
        topology, _, node = name.partition(":")
        for use in uses_of(workspace, topic):
            if str(use["topology"]) == topology and use["node"] == node:
                return cls(person, use["key"], use["value"])
        raise NotFound(
            "no_such_reader",
            f"There is no node {name!r} of a saved topology that sets formats for {topic}.",
            "GET the topic's uses to list such nodes.",
            fields={"reader": ["Not a node that uses the topic."]},
        )

    @classmethod
    def by_schema(
        cls, person: User, workspace: Workspace, formats: Mapping[str, Format]
    ) -> Reader | None:
        """Return a reader for the formats of `key` and `value`; None if neither is Avro or
        Protobuf.

        Raises ApiError for a schema that cannot be obtained.
        """
        own = {name: f["format"] for name, f in formats.items() if f["format"] not in BY_SCHEMA}
        if len(own) == len(formats):
            return None
        types_of(person, workspace, {name: f for name, f in formats.items() if name not in own})
        bytes_: Format = {"format": RecordFormat.BYTES.value}
        key, value = (bytes_ if part in own else formats[part] for part in PARTS)
        return cls(person, key, value, own)

    def decoded(self, records: Sequence[Raw]) -> list[tuple[Decoded, Decoded]]:
        """Decode key and value of each record, or return hexadecimal digits and the reason.

        Raises Unavailable while the simulator is starting, ApiError for a schema that cannot be
        obtained.
        """
        if not records:
            return []
        outputs = outputs_of(self.person, self._document(), records)
        return [self.parts(record, outputs.get(number)) for number, record in enumerate(records, 1)]

    def _document(self) -> TopologyDocument:
        return reading(self.key, self.value)

    def parts(self, record: Raw, output: OutputLine | None) -> tuple[Decoded, Decoded]:
        """Return key and value of a record; `output` is what the document wrote for it, if
        anything.
        """
        return self._part("key", record.key, output), self._part("value", record.value, output)

    @property
    def stated(self) -> dict[str, Format]:
        """The formats that the simulator decodes, by part."""
        formats = {"key": self.key, "value": self.value}
        return {part: each for part, each in formats.items() if part not in self.own}

    def _part(self, name: Part, raw: bytes | None, output: OutputLine | None) -> Decoded:
        if name in self.own:
            return decode(raw, self.own[name])
        if output is not None:
            return _part(raw, output[name], str(self.stated[name]["format"]))
        formats = ", ".join(f"{each['format']} ({part})" for part, each in self.stated.items())
        return _bytes(raw, f"Not in the formats {formats}.")


def decoded_by_schema(
    person: User, formats: Mapping[str, Format], records: Sequence[Raw]
) -> list[dict[str, Decoded]]:
    """Return the decoded parts of each record whose formats need a schema, by part.

    Raises Unavailable while the simulator is starting, ApiError for a schema that cannot be
    obtained.
    """
    parts = [part for part in formats if by_schema(formats[part])]
    if not parts:
        return [{} for _ in records]
    others: Format = {"format": RecordFormat.BYTES.value}
    key, value = (formats[part] if part in parts else others for part in ("key", "value"))
    reader = Reader(person, key, value)
    found = []
    for begin in range(0, len(records), MOST_DECODED):
        for pair in reader.decoded(records[begin : begin + MOST_DECODED]):
            both = dict(zip(("key", "value"), pair, strict=True))
            found.append({part: both[part] for part in parts})
    return found


def reading(
    key: Format,
    value: Format,
    topic: str = "records",
    *between: DocumentNode,
) -> TopologyDocument:
    """Return a document that reads records in these formats; `between`: nodes after the source."""
    source = {"topics": [topic], "key": dict(key), "value": dict(value)}
    nodes: list[DocumentNode] = [
        {"id": "in", "kind": "source.stream", "params": source},
        *between,
        {"id": "out", "kind": "sink.topic", "params": {"topic": f"{topic[:200]}-read"}},
    ]
    return {
        "format": "millrace.topology/1",
        "name": "decode",
        "settings": {"deserialization_handler": "continue", "processing_handler": "continue"},
        "nodes": nodes,
        "edges": [{"source": a["id"], "target": b["id"]} for a, b in pairwise(nodes)],
    }


def outputs_of(
    person: User, document: TopologyDocument, records: Sequence[Raw], topic: str = "records"
) -> dict[int, OutputLine]:
    """Return the outputs of a document of `reading`, by the number of the record, from 1.

    Raises Unavailable while the simulator is starting, Refused for a document that does not
    compile, ApiError if the simulation ends with an error.
    """
    lines = [_line(record, topic) for record in records]
    return {each["after"]: each for each in result_of(person, document, lines)["outputs"]}


def result_of(
    person: User, document: TopologyDocument, lines: Sequence[InputLine]
) -> SimulationResult:
    """Return the result of a document for input lines.

    Raises Unavailable while the simulator is starting, Refused for a document that does not
    compile, ApiError if the simulation ends with an error.
    """
    answer = ask(
        {
            "do": "simulate",
            "owner": f"person {person.pk}",
            "document": document,
            "inputs": list(lines),
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
        found = next(each for each in answer["diagnostics"] if each["severity"] == "error")
        raise Refused(found)
    if answer["result"].get("error"):
        error = answer["result"]["error"]
        raise ApiError("unreadable_format", str(error["message"]), cause=error.get("cause"))
    result: SimulationResult = answer["result"]
    return result


class Refused(ApiError):
    """Raised for a document of `reading` with an error, which `diagnostic` describes."""

    def __init__(self, diagnostic: DiagnosticJson) -> None:
        super().__init__(
            "unreadable_format",
            diagnostic["message"],
            diagnostic.get("hint") or "",
            cause=cause(**diagnostic),
        )
        self.diagnostic = diagnostic


def _line(record: Raw, topic: str) -> InputLine:
    line: InputLine = {
        "topic": topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": max(record.timestamp, 0),
        "headers": {
            name: None if value is None else value.decode("utf-8", "replace")
            for name, value in record.headers
        },
    }
    if record.key is None:
        line["key"] = None
    else:
        line["key_bytes"] = base64.b64encode(record.key).decode()
    if record.value is None:
        line["value"] = None
    else:
        line["value_bytes"] = base64.b64encode(record.value).decode()
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
