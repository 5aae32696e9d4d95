"""Values of an expression for sample records, which the operator computes in the simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypedDict

from accounts.choices import Role
from accounts.models import User, Workspace
from accounts.permissions import require
from millrace_backend.errors import ApiError
from millrace_model.documents import DocumentNode, Format, TopologyDocument
from millrace_model.records import InputLine

from records.decoding import PARTS, Refused, result_of

#: maximum number of records for which an expression is evaluated at once
MOST_TRIED = 5
#: the node that evaluates the expression, and topics that no record has
_NODE, _VALUES, _FAILED = "expression", "expression-values", "expression-failures"


class TriedValue(TypedDict):
    """The value for a record, or the reason why there is none; BINARY is base64."""

    value: Any
    error: str | None


def values_of(
    person: User,
    workspace: Workspace,
    expression: str,
    types: Mapping[str, str],
    records: Sequence[InputLine],
) -> list[TriedValue]:
    """Return the value of an expression for each record, as `map_values` computes it.

    `types`: Spark types of `key` and `value`, which records have as JSON. Raises Forbidden without
    the role editor, ApiError with the code `invalid_expression` and the reason, Unavailable while
    the simulator is starting.
    """
    require(person, workspace.pk, Role.EDITOR)
    topics = sorted({each["topic"] for each in records})
    try:
        result = result_of(person, _document(expression, types, topics), records)
    except Refused as refused:
        found = refused.diagnostic
        raise ApiError(
            "invalid_expression",
            found["message"],
            found.get("hint") or "",
            fields={"expression" if found.get("node") == _NODE else "types": [found["message"]]},
            cause=refused.data["cause"],
        ) from None
    values = {each["after"]: each.get("value") for each in result["outputs"]}
    errors = {each["after"]: each["message"] for each in result["failures"]}
    return [
        {"value": None, "error": errors[number]}
        if number in errors
        else {"value": values.get(number), "error": None}
        for number in range(1, len(records) + 1)
    ]


def _document(expression: str, types: Mapping[str, str], topics: Sequence[str]) -> TopologyDocument:
    """Return a document that writes the expression's value, or a dead letter, for each record."""
    formats: dict[str, Format] = {
        part: {"format": "json", "schema": "STRING" if types[part] == "VOID" else types[part]}
        for part in PARTS
    }
    nodes: list[DocumentNode] = [
        {"id": "in", "kind": "source.stream", "params": {"topics": list(topics), **formats}},
        {"id": _NODE, "kind": "map_values", "params": {"value": expression}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": _VALUES}},
    ]
    return {
        "format": "millrace.topology/1",
        "name": "expression",
        "settings": {
            "deserialization_handler": "dead_letter",
            "processing_handler": "dead_letter",
            "dead_letter_topic": _FAILED,
        },
        "nodes": nodes,
        "edges": [{"source": a["id"], "target": b["id"]} for a, b in pairwise(nodes)],
    }
