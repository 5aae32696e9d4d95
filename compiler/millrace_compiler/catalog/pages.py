"""Generates a page of documentation for each operator, from its declaration and its example."""

from __future__ import annotations

import json
from pathlib import Path

from millrace_compiler.catalog.examples import example
from millrace_compiler.catalog.pictures import described, picture
from millrace_compiler.catalog.rules import RULES
from millrace_compiler.declarations.operator import FAMILIES, Operator, registry
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.documents.document import read_document
from millrace_compiler.parameters.parameters import Choice, Expression, Parameter

_ROLES = {
    "stream": "stream",
    "table": "table",
    "global_table": "global table",
    "same": "same as the input",
}


def pages() -> dict[str, str]:
    """Text of each file by its name: pages, pictures, and ``README.md``, the index."""
    found = {f"{cls.kind}.md": page(cls) for cls in registry().values()}
    for cls in registry().values():
        found[f"pictures/{cls.kind}.svg"] = picture(cls, example(cls.kind), sentence(cls))
    found["guarantees.md"] = _guarantees()
    found["README.md"] = _index()
    return found


def write_pages(folder: Path) -> list[Path]:
    """Write all pages, remove those of removed kinds, and return the paths."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    texts = pages()
    for old in (*folder.glob("*.md"), *folder.glob("pictures/*.svg")):
        if str(old.relative_to(folder)) not in texts:
            old.unlink()
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in texts]


def sentence(cls: type[Operator]) -> str:
    """The sentence on the canvas for the node in the kind's example."""
    report = Diagnostics()
    document = read_document(example(cls.kind).topology, report)
    node = next(node for node in document.nodes if node.kind == cls.kind)
    return str(cls(node, report).summary())


def _index() -> str:
    lines = ["# Operators", "", "Generated from the operators' declarations. Do not edit.", ""]
    lines += ["[Guarantees](guarantees.md) of all operators in one table.", ""]
    for family, title in FAMILIES.items():
        members = [cls for cls in registry().values() if cls.family == family]
        lines += [f"## {title}", ""]
        lines += [f"- [{cls.title}]({cls.kind}.md) `{cls.kind}`: {_first(cls)}" for cls in members]
        lines.append("")
    return "\n".join(lines)


def _guarantees() -> str:
    lines = [
        "# Guarantees",
        "",
        "How each operator runs, and what it guarantees.",
        "",
        "Generated from the operators' declarations. Do not edit.",
        "",
    ]
    lines += ["| operator | runs as | guarantee | why |", "|---|---|---|---|"]
    for cls in registry().values():
        lines += [f"| [{cls.title}]({cls.kind}.md) {row}" for row in _guarantee(cls)[2:]]
    return "\n".join([*lines, ""])


def _first(cls: type[Operator]) -> str:
    return (cls.__doc__ or "").strip().splitlines()[0]


def page(cls: type[Operator]) -> str:
    """The page of one operator."""
    lines = [f"# {cls.title}", "", f"`{cls.kind}` · {FAMILIES[cls.family]}", "", _first(cls), ""]
    lines += [cls.help, "", "## Ports", ""]
    lines += _ports(cls)
    lines += ["", "## Parameters", ""]
    lines += _parameters(cls)
    lines += ["", "## Example", "", *_example(cls)]
    lines += ["## Guarantee", "", *_guarantee(cls), ""]
    if cls.rules:
        lines += ["## Rules", "", "| rule | meaning |", "|---|---|"]
        lines += [f"| {rule} | {RULES[rule]} |" for rule in cls.rules]
        lines.append("")
    words = ", ".join(cls.synonyms)
    lines += ["## Traits", "", *_traits(cls), "", f"Search terms: {words}.", ""]
    return "\n".join(lines)


def _example(cls: type[Operator]) -> list[str]:
    shown_ = example(cls.kind)
    alt = described(shown_).replace("[", "(").replace("]", ")")
    lines = [f"{shown_.title}.", "", f"![{alt}](pictures/{cls.kind}.svg)", ""]
    lines += [
        "The output was recorded from Kafka Streams; a test checks that Spark produces the same. "
        "The numbers beside records are timestamps in milliseconds.",
        "",
    ]
    code = shown_.node["params"].get("code")
    if isinstance(code, str):
        lines += ["```python", *code.rstrip().splitlines(), "```", ""]
    settings = {name: value for name, value in shown_.node["params"].items() if name != "code"}
    text = json.dumps(settings, ensure_ascii=False, indent=2)
    return [*lines, f"Parameters of the `{cls.kind}` node:", "", "```json", text, "```", ""]


def _guarantee(cls: type[Operator]) -> list[str]:
    words = "store" if cls.family == "stores" else "stream task"
    return [
        "| runs as | guarantee | why |",
        "|---|---|---|",
        f"| {words} | {cls.guarantee} | {cls.why} |",
    ]


def _ports(cls: type[Operator]) -> list[str]:
    lines = ["| port | type |", "|---|---|"]
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
        if cls.many_stores:
            stores += "; tables and global tables, whose stores it reads"
        lines.append(f"| in: `store` | {'stores' if cls.many_stores else 'a store'}: {stores} |")
    return lines


def _parameters(cls: type[Operator]) -> list[str]:
    if not cls.parameters:
        return ["None."]
    lines = ["| parameter | meaning | default |", "|---|---|---|"]
    lines += [_parameter(parameter) for parameter in cls.parameters.values()]
    return lines


def _parameter(parameter: Parameter[object]) -> str:
    text = parameter.help
    if isinstance(parameter, Choice):
        text += " One of " + ", ".join(f"`{c}`" for c in parameter.choices) + "."
    if isinstance(parameter, Expression) and parameter.expects:
        text += f" Returns {parameter.expects}."
    default = "required" if parameter.required else "–"
    if parameter.default is not None:
        default = f"`{json.dumps(parameter.default)}`"
    return f"| `{parameter.name}` | {text} | {default} |".replace("\n", " ")


def _traits(cls: type[Operator]) -> list[str]:
    traits = [
        ("stateful", cls.stateful),
        (
            "changes the key, so the stream is repartitioned before the next grouping or join",
            cls.changes_key,
        ),
        ("depends on stream time or wall-clock time", cls.reads_clock),
    ]
    return [f"- {text}" for text, has in traits if has] or ["None."]
