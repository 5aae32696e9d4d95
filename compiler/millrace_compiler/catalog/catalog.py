"""The catalog: what the page needs to know about operators, generated from their declarations."""

from __future__ import annotations

import json
from pathlib import Path

from millrace_compiler.catalog.examples import example
from millrace_compiler.declarations.operator import FAMILIES, Operator, registry
from millrace_compiler.documents.json_text import text_of
from millrace_compiler.inference.expression_faults import FUNCTIONS_FILE
from millrace_compiler.parameters.formats import DESCRIPTIONS, PARTS, SIMPLE
from millrace_compiler.parameters.settings import SETTINGS

HERE = Path(__file__).parent
CATALOG_FILE = HERE / "catalog.json"


def catalog() -> dict[str, object]:
    """The catalog, ready for JSON."""
    used = {cls.family for cls in registry().values()}
    return {
        "families": [{"id": id_, "title": title} for id_, title in FAMILIES.items() if id_ in used],
        "kinds": [_kind(cls) for cls in registry().values()],
        "formats": _formats(),
        "settings": [parameter.to_json() for parameter in SETTINGS.values()],
        "functions": json.loads(FUNCTIONS_FILE.read_text("utf-8")),
    }


def catalog_text() -> str:
    """The text of ``catalog.json``, which is committed."""
    return text_of(catalog())


def _kind(cls: type[Operator]) -> dict[str, object]:
    shown = example(cls.kind)
    # The palette's card is small: show timestamps only where they matter.
    times = cls.reads_clock or cls.has_timestamps
    return {
        "kind": cls.kind,
        "title": cls.title,
        "family": cls.family,
        "icon": cls.icon,
        "description": (cls.__doc__ or "").strip().splitlines()[0],
        "help": cls.help,
        "synonyms": list(cls.synonyms),
        "example": {"before": shown.before(times=times), "after": shown.after(times=times)},
        "inputs": _inputs(cls),
        "outputs": _outputs(cls),
        "takes_store": list(cls.takes_store) or None,
        "reads_stores": cls.many_stores,
        "stateful": cls.stateful,
        "changes_key": cls.changes_key,
        "parameters": [parameter.to_json() for parameter in cls.parameters.values()],
    }


def _inputs(cls: type[Operator]) -> list[dict[str, object]]:
    ports: list[dict[str, object]] = [
        {"name": port.name, "roles": _roles(port.roles), "many": port.many, "dynamic": None}
        for port in cls.in_ports
    ]
    if cls.dynamic_inputs:
        named = ports[0] if ports else {"name": "in", "roles": ["stream"], "many": False}
        ports.append({**named, "dynamic": cls.dynamic_inputs})
    return ports


def _roles(roles: tuple[str, ...]) -> list[str]:
    """The roles as the page shows them: it marks windowed tables differently from other tables."""
    return [
        shown
        for role in roles
        for shown in ((role, "windowed_table") if role == "table" else (role,))
    ]


def _outputs(cls: type[Operator]) -> list[dict[str, object]]:
    if cls.dynamic_outputs:
        return [{"name": "out", "role": "stream", "dynamic": cls.dynamic_outputs}]
    if cls.family == "stores":
        return [{"name": "out", "role": "store", "dynamic": None}]
    return [{"name": port.name, "role": port.role, "dynamic": None} for port in cls.out_ports]


def _formats() -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for name, (title, description) in DESCRIPTIONS.items():
        type_ = SIMPLE.get(name)
        found.append(
            {
                "format": name,
                "title": title,
                "description": description,
                "type": type_.text if type_ else None,
                "properties": _properties(name),
            }
        )
    return found


def _properties(name: str) -> list[str]:
    return list(PARTS.get(name, ()))
