"""Ports of fragments: nodes that stand for what is before and after a fragment.

``fragment.input`` has the role and the types that the fragment needs; a struct may have further
fields. ``fragment.output`` has no parameters: its types follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from millrace_model.documents import INPUT, OUTPUT

from millrace_compiler.declarations.ports import Port
from millrace_compiler.diagnostics.diagnostics import Diagnostics, shown
from millrace_compiler.types.types import STRING, DataType, NoType, parse_type

PORTS = (INPUT, OUTPUT)
ROLES = ("stream", "table", "global_table")
_PARAMS = {INPUT: ("role", "key", "value"), OUTPUT: ()}


@dataclass(frozen=True)
class Declared:
    """What an input of a fragment needs; None: any type."""

    role: str
    key: DataType | None
    value: DataType | None

    def fault(self, port: Port) -> tuple[str, str] | None:
        """Return what was found and what is needed, in words, if a port does not fit."""
        if port.role != self.role:
            return port.shown_role.replace("_", " "), self.role.replace("_", " ")
        for name, needed in (("key", self.key), ("value", self.value)):
            found = getattr(port, name)
            if needed is not None and found is not None and not has(found, needed):
                return f"{name} {found.text}", f"{name} {needed.text}"
        return None


def has(found: DataType, needed: DataType) -> bool:
    """Whether a type is another one, or a struct with all of its fields and perhaps more."""
    if needed.name != found.name or needed.name not in ("STRUCT", "ARRAY", "MAP"):
        return found == needed
    if needed.name != "STRUCT":
        pairs = zip(found.inner, needed.inner, strict=True)
        return all(has(one, other) for one, other in pairs)
    for name, type_ in zip(needed.fields, needed.inner, strict=True):
        field = found.field(name)
        if field is None or not has(field, type_):
            return False
    return True


def alone(node: Any, report: Diagnostics) -> Any:
    """Return a port as the source or sink that it is in a fragment that stands alone.

    Each reads or writes the topic with the name of the port. Other nodes are returned as they are.
    """
    if not isinstance(node, dict) or node.get("kind") not in PORTS:
        return node
    id_ = node.get("id")
    rest = {name: value for name, value in node.items() if name not in ("kind", "params")}
    declared = read_port(node, report)
    if node["kind"] == OUTPUT:
        return {**rest, "kind": "sink.topic", "params": {"topic": id_}}
    role = declared.role if declared else "stream"
    formats = {
        name: {"format": "json", "schema": (getattr(declared, name, None) or STRING).schema}
        for name in ("key", "value")
    }
    topic = {"topics": [id_]} if role == "stream" else {"topic": id_}
    return {**rest, "kind": f"source.{role}", "params": {**topic, **formats}}


def read_port(node: Mapping[str, object], report: Diagnostics) -> Declared | None:
    """Read a port of a fragment; None if it has an error, which is reported at the node."""
    id_, kind = str(node.get("id")), str(node["kind"])
    given = node.get("params")
    params = given if isinstance(given, Mapping) else {}
    for name in params:
        if name not in _PARAMS[kind]:
            known = ", ".join(_PARAMS[kind]) or "none"
            report.add("parameter_unknown", id_, str(name), kind=kind, known=known, guess="")
    role = params.get("role", "stream")
    if role not in ROLES:
        report.add("fragment_role", id_, "role", found=shown(role), known=", ".join(ROLES))
        return None
    types: dict[str, DataType | None] = {}
    for name in ("key", "value"):
        text = params.get(name)
        if text is None or text == "":
            types[name] = None
            continue
        try:
            types[name] = parse_type(text if isinstance(text, str) else "")
        except NoType as error:
            report.add("fragment_type", id_, name, found=shown(text), reason=str(error))
            return None
    return Declared(str(role), types["key"], types["value"])
