"""Samples of a topic's records for a simulation, with fields masked on the server."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.models import User, Workspace
from django.conf import settings
from millrace_backend.errors import ApiError
from millrace_model.documents import Format

from records.choices import RecordFormat, Start
from records.codecs import Decoded, Undecodable, text_of
from records.decoding import decoded_by_schema
from records.filters import path_steps
from records.queries import Asked, scanned
from records.reading import Raw
from records.types import by_schema, types_of

#: maximum number of records in a sample
MOST_SAMPLED = 500
#: formats whose text is JSON
_AS_JSON = {
    RecordFormat.JSON, RecordFormat.INTEGER, RecordFormat.LONG, RecordFormat.FLOAT,
    RecordFormat.DOUBLE, RecordFormat.BOOLEAN,
}  # fmt: skip
#: formats that are read here; the simulator reads those with a schema
READ = {*_AS_JSON, RecordFormat.STRING}


@dataclass(frozen=True)
class Mask:
    """A mask of a field: ``hash`` (equal values get equal hashes) or ``replace`` by ``by``."""

    how: str
    by: Any = None


@dataclass(frozen=True)
class SampleRequest:
    """The number of records, the end of the topic, the formats, and the masks by path.

    `key` and `value` are formats of the document.
    """

    count: int
    start: str
    key: Format
    value: Format
    masks: Mapping[str, Mask] = field(default_factory=dict)
    #: headers are left out by default, because they cannot be masked
    headers: bool = False


@dataclass
class Sample:
    """Input lines; ``skipped`` counts records that could not be read, and so not masked."""

    lines: list[dict[str, object]]
    skipped: int


def sample(person: User, workspace: Workspace, topic: str, request: SampleRequest) -> Sample:
    """Return the newest or the first records of a topic, in the order of their timestamps.

    Raises ApiError for a mask in a format that cannot be read and for a schema that cannot be
    obtained, Unavailable while the simulator, which reads formats with a schema, is starting.
    """
    masked = masked_paths(request.masks)
    formats = {"key": request.key, "value": request.value}
    for part, each in formats.items():
        chosen = each["format"]
        if by_schema(each) or chosen in READ:
            continue
        if any(steps[0] == part for steps in masked):
            raise ApiError(
                "invalid",
                f"Fields of the {part} cannot be masked: the format {chosen} is not supported "
                "here.",
                "Remove its masks, choose string or JSON, or send a schema of Avro or Protobuf.",
                fields={"masks": [f"The format {chosen} of the {part} is not supported."]},
            )
    found = Sample([], 0)

    def line(record: Raw, decoded: Mapping[str, Decoded]) -> dict[str, object] | None:
        try:
            return line_of(workspace, topic, record, request, masked, decoded)
        except Undecodable:
            found.skipped += 1
            return None

    decodes = any(by_schema(each) for each in formats.values())
    if decodes:
        types_of(person, workspace, formats)
    asked = Asked(start=request.start, limit=request.count)
    page, _ = scanned(topic, asked, lambda record: record if decodes else line(record, {}))
    rows: list[Any] = [row.content for row in page.rows]
    if decodes:
        pairs = zip(rows, decoded_by_schema(person, formats, rows), strict=True)
        rows = [made for pair in pairs if (made := line(*pair)) is not None]
    found.lines = rows[::-1] if request.start == Start.LATEST else rows
    return found


def masked_paths(masks: Mapping[str, Mask]) -> dict[tuple[str | int, ...], Mask]:
    """Return the masks by the steps of their paths. Raises ApiError for an invalid path."""
    return {path_steps(path): mask for path, mask in masks.items()}


def line_of(
    workspace: Workspace,
    topic: str,
    record: Raw,
    request: SampleRequest,
    masked: Mapping[tuple[str | int, ...], Mask],
    decoded: Mapping[str, Decoded],
) -> dict[str, object]:
    """Return a record as an input line; `decoded`: its parts whose formats need a schema.

    Raises Undecodable if a part with masks cannot be read.
    """
    line: dict[str, object] = {"topic": topic}
    parts = (("key", record.key, request.key), ("value", record.value, request.value))
    for part, raw, stated in parts:
        rules = {steps[1:]: mask for steps, mask in masked.items() if steps[0] == part}
        try:
            value = _value(raw, stated["format"], decoded.get(part))
        except Undecodable:
            if rules:
                raise
            line[f"{part}_bytes"] = base64.b64encode(raw or b"").decode()
            continue
        for steps, mask in rules.items():
            value = _masked(workspace, value, steps, mask)
        line[part] = value
    line |= {"timestamp": record.timestamp, "partition": record.partition}
    if request.headers and record.headers:
        line["headers"] = {
            name: None if raw is None else raw.decode(errors="replace")
            for name, raw in record.headers
        }
    return line


def _value(raw: bytes | None, format: str, decoded: Decoded | None) -> Any:
    """Return the value for an input line. Raises Undecodable."""
    if raw is None:
        return None
    if decoded is not None:
        if decoded.error is not None:
            raise Undecodable("bytes_unread", decoded.error)
        return decoded.value
    if format not in READ:
        raise Undecodable("bytes_unread", f"The format {format} is not supported here.")
    text = text_of(raw, format)
    return json.loads(text) if format in _AS_JSON else text


def _masked(workspace: Workspace, value: Any, steps: tuple[str | int, ...], mask: Mask) -> Any:
    """Return the value with the field masked; missing fields and nulls stay as they are."""
    if value is None:
        return None
    if not steps:
        return mask.by if mask.how == "replace" else _hashed(workspace, value)
    step, rest = steps[0], steps[1:]
    if isinstance(value, dict) and str(step) in value:
        return {**value, str(step): _masked(workspace, value[str(step)], rest, mask)}
    if isinstance(value, list):
        # A path applies to the fields of all elements, `value.items.name`, or of one,
        # `value.items[0]`.
        if isinstance(step, int):
            return [
                _masked(workspace, each, rest, mask) if n == step else each
                for n, each in enumerate(value)
            ]
        return [_masked(workspace, each, steps, mask) for each in value]
    return value


def _hashed(workspace: Workspace, value: Any) -> Any:
    """Return a hash of the value with the same type, which is stable within a workspace."""
    if isinstance(value, dict):
        return {name: _hashed(workspace, each) for name, each in value.items()}
    if isinstance(value, list):
        return [_hashed(workspace, each) for each in value]
    if value is None or isinstance(value, bool):
        return value
    secret = f"{settings.SECRET_KEY}/masks/{workspace.pk}".encode()
    text = json.dumps(value, sort_keys=True).encode()
    digest = hmac.new(secret, text, hashlib.sha256).hexdigest()
    if isinstance(value, int):
        return int(digest[:7], 16)
    return float(int(digest[:7], 16)) if isinstance(value, float) else digest[:12]
