"""A page of documentation for each operator, made from its declaration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from millrace_compiler.operator import FAMILIES, Operator, registry
from millrace_compiler.parameters import Choice, Expression, Parameter

_ROLES = {
    "stream": "stream",
    "table": "table",
    "global_table": "global table",
    "same": "as its input",
}


def pages() -> dict[str, str]:
    """Text of each page by its file name; ``README.md`` is the list of all."""
    found = {f"{cls.kind}.md": page(cls) for cls in registry().values()}
    found["README.md"] = _index()
    return found


def write_pages(folder: Path) -> list[Path]:
    """Writes all pages, removes those of kinds that are gone, and gives the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = pages()
    for old in folder.glob("*.md"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in texts]


def _index() -> str:
    lines = ["# Operators", "", "Made from the operators' declarations; do not edit.", ""]
    for family, title in FAMILIES.items():
        members = [cls for cls in registry().values() if cls.family == family]
        lines += [f"## {title}", ""]
        lines += [f"- [{cls.title}]({cls.kind}.md) `{cls.kind}`: {_first(cls)}" for cls in members]
        lines.append("")
    return "\n".join(lines)


def _first(cls: type[Operator]) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0]


def page(cls: type[Operator]) -> str:
    """The page of one operator."""
    lines = [f"# {cls.title}", "", f"`{cls.kind}` · {FAMILIES[cls.family]}", "", _first(cls), ""]
    lines += [cls.help, "", "## Ports", ""]
    lines += _ports(cls)
    lines += ["", "## Parameters", ""]
    lines += _parameters(cls)
    lines += ["", "## What it does to records", ""]
    before, after = cls.example
    lines += ["Before:", "", *_records(before), "", "After:", "", *_records(after), ""]
    if cls.rules:
        lines += ["## Rules", "", ", ".join(f"[{rule}]" for rule in cls.rules), ""]
    words = ", ".join(cls.synonyms)
    lines += ["## Traits", "", *_traits(cls), "", f"Also found as: {words}.", ""]
    return "\n".join(lines)


def _ports(cls: type[Operator]) -> list[str]:
    lines = ["| port | carries |", "|---|---|"]
    for port in cls.in_ports:
        roles = " or ".join(_ROLES[role] for role in port.roles)
        lines.append(f"| in: `{port.name}` | {roles}{'; several edges' if port.many else ''} |")
    if cls.dynamic_inputs:
        lines.append(f"| in: one for each of `{cls.dynamic_inputs}` | stream |")
    for out in cls.out_ports:
        role = "a store" if cls.family == "stores" else _ROLES[out.role]
        lines.append(f"| out: `{out.name}` | {role} |")
    if cls.dynamic_outputs:
        lines.append(f"| out: one for each of `{cls.dynamic_outputs}` | stream |")
    if cls.takes_store:
        stores = ", ".join(f"`{kind}`" for kind in cls.takes_store)
        lines.append(f"| in: `store` | {'stores' if cls.many_stores else 'a store'}: {stores} |")
    return lines


def _parameters(cls: type[Operator]) -> list[str]:
    if not cls.parameters:
        return ["None."]
    lines = ["| parameter | is | default |", "|---|---|---|"]
    lines += [_parameter(parameter) for parameter in cls.parameters.values()]
    return lines


def _parameter(parameter: Parameter[object]) -> str:
    text = parameter.help
    if isinstance(parameter, Choice):
        text += " One of " + ", ".join(f"`{c}`" for c in parameter.choices) + "."
    if isinstance(parameter, Expression) and parameter.expects:
        text += f" Gives {parameter.expects}."
    default = "required" if parameter.required else "–"
    if parameter.default is not None:
        default = f"`{json.dumps(parameter.default)}`"
    return f"| `{parameter.name}` | {text} | {default} |".replace("\n", " ")


def _records(records: tuple[Mapping[str, object], ...]) -> list[str]:
    lines = ["```json"]
    lines += [json.dumps(record, ensure_ascii=False) for record in records]
    return [*lines, "```"]


def _traits(cls: type[Operator]) -> list[str]:
    traits = [
        ("keeps state", cls.stateful),
        ("changes the key, so a shuffle follows before the next grouping", cls.changes_key),
        ("reads a clock", cls.reads_clock),
        ("can run as a plain DataFrame step", cls.plain),
    ]
    return [f"- {text}" for text, has in traits if has] or ["- none"]
