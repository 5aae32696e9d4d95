"""Doubles: what stands for a node in simulations and tests, and never in a deployment.

A double is a table. For each record, its first row that matches gives the answer: a key and a
value, each an expression over the record, or no record. The answer has the types that the node
gives, whatever the node does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from millrace_model.documents import Double, DoubleRow

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.declarations.ports import Port
from millrace_compiler.types.types import DataType


class NoDouble(ValueError):
    """A node cannot have this double; ``code`` identifies the reason."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def double_of(
    operator: Operator,
    inputs: Mapping[str, Sequence[Port | None]],
    after: Port | None,
    double: Double,
) -> tuple[str, dict[str, str]]:
    """Kind and parameters of the node that runs in place of one with a double.

    ``inputs``: the ports before each input of the node; ``after``: its output. Raises NoDouble if
    the node is not one from a stream to a stream.
    """
    ports = [port for each in inputs.values() for port in each]
    if operator.outputs() != ("out",) or set(inputs) != {"in"} or len(ports) != 1:
        raise NoDouble("double_ports", "a double has one input edge and the output out")
    before = ports[0]
    if before is None or after is None or after.key is None or after.value is None:
        raise NoDouble(
            "double_untyped", "its types are not known, because it or a node before it has errors"
        )
    if before.role != "stream" or after.role != "stream":
        raise NoDouble("double_not_stream", "only a node from a stream to a stream can have one")
    key, value = after.key, after.value
    rows, passes = double.get("rows") or [], bool(double.get("passes"))
    if before.key != key and any(row.get("value") and not row.get("key") for row in rows):
        raise NoDouble("double_key", "it gives another type of key, so each row needs a key")
    if passes and (before.key, before.value) != (key, value):
        raise NoDouble("double_passes", "records cannot pass, because it gives other types")
    rekeys = after.key_changed and not before.key_changed
    if not rekeys and not any(row.get("key") for row in rows):
        values = [_cast(row["value"], value) if row.get("value") else None for row in rows]
        passed = "value" if passes else None
        return "flat_map_values", {"values": _cased(rows, values, passed, f"ARRAY<{value.text}>")}
    record = DataType("STRUCT", inner=(key, value), fields=("key", "value"))
    answers = [
        _struct(row.get("key") or "key", row["value"], key, value) if row.get("value") else None
        for row in rows
    ]
    passed = _struct("key", "value", key, value) if passes else None
    return "flat_map", {"records": _cased(rows, answers, passed, f"ARRAY<{record.text}>")}


def _cased(
    rows: Sequence[DoubleRow], answers: Sequence[str | None], passed: str | None, given: str
) -> str:
    """The array of records that the first matching row gives, of the type ``given``."""

    def one(answer: str | None) -> str:
        return f"CAST(array() AS {given})" if answer is None else f"array({answer})"

    cases = "".join(
        f" WHEN {_inside(row.get('when') or 'true')} THEN {one(answer)}"
        for row, answer in zip(rows, answers, strict=True)
    )
    return f"CASE{cases} ELSE {one(passed)} END" if rows else one(passed)


def _struct(key: str, value: str, key_type: DataType, value_type: DataType) -> str:
    return f"named_struct('key', {_cast(key, key_type)}, 'value', {_cast(value, value_type)})"


def _cast(text: str, type_: DataType) -> str:
    return f"CAST({_inside(text)} AS {type_.text})"


def _inside(text: str) -> str:
    """An expression as a part of another one. A comment at its end does not hide what follows."""
    return f"({text}\n)"
