"""Parts of a plain program beside the topology: definitions of the modules in `inlined/`, as text.

These modules are typed and linted like all others, and need pyspark; the compiler does not, so it
reads them without importing them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from millrace_compiler.plain.keeping import parts_of
from millrace_compiler.plain.program import Program
from millrace_compiler.plain.unused import used_names
from millrace_compiler.program.classes import bound_names

FOLDER = Path(__file__).parent / "inlined"


@dataclass(frozen=True)
class Part:
    """Definitions, each after two empty lines, and the names that they import, by module."""

    text: str
    imports: Mapping[str, frozenset[str]]


@cache
def _module(name: str) -> tuple[str, ast.Module]:
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    return text, ast.parse(text)


def definition(module: str, *path: str) -> str:
    """The text of a class, function or constant of a module, or of a method of a class."""
    text, found = _module(module)
    statement: ast.Module | ast.stmt = found
    for name in path:
        statement = next(each for each in getattr(statement, "body", ()) if name in _names_of(each))
    assert isinstance(statement, ast.stmt)  # noqa: S101 - there is a path
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
    return "\n".join(text.split("\n")[first - 1 : statement.end_lineno])


def _names_of(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {each.id for each in targets if isinstance(each, ast.Name)}
    return set()


def part(module: str, *names: str) -> Part:
    """The part with these definitions of a module, or with all of them."""
    _, found = _module(module)
    chosen = names or tuple(name for each in found.body for name in sorted(_names_of(each)))
    return _part(module, "".join(f"\n\n{definition(module, name)}\n" for name in chosen))


def _part(module: str, text: str) -> Part:
    _, found = _module(module)
    used = used_names(text)
    imports = {
        each.module: frozenset(name.name for name in each.names) & used
        for each in found.body
        if isinstance(each, ast.ImportFrom) and each.module is not None
    }
    return Part(text, {name: names for name, names in imports.items()
                       if names and not name.startswith(__package__)})  # fmt: skip


#: Parts by name, in the order in which they are written.
PARTS: dict[str, Part] = {
    "processor": part("processor"),
    "table_join": part("state", "TableJoin"),
    "table_lookup": part("state", "TableLookup"),
    "table_changes": part("state", "TableChanges"),
    "references": part("state", "References"),
    "foreign_key_join": part("state", "ForeignKeyJoin"),
    "sliding": part("state", "SlidingWindows"),
    "suppress": part("state", "Suppress"),
    "key_bytes": part("state", "_bytes"),
    "in_order": part("state", "_in_order"),
}


def kafka(pattern: bool) -> Part:
    """The class that reads and writes topics; `pattern`: it also reads them by a pattern."""
    text = part("kafka", "Kafka", "client_settings").text
    if pattern:
        by_pattern = definition("kafka", "PatternKafka", "read")
        text = text.replace(definition("kafka", "Kafka", "read"), by_pattern)
    return _part("kafka", text)


def main(session: str) -> Part:
    """The command line; `session`: the statement that creates the session."""
    text = part("kafka", "main").text
    own = "        spark = SparkSession.builder.getOrCreate()"
    return _part(
        "kafka", f'{text.replace(own, session)}\n\nif __name__ == "__main__":\n    main()\n'
    )


def names_of_parts(program: Program) -> set[str]:
    """The names that a program must not use, because the parts of its nodes define them."""
    found: set[str] = set()
    for node in program.graph.operators.values():
        for name in parts_of(program, node):
            found |= bound_names(PARTS[name].text)
            found.update(*PARTS[name].imports.values())
    return found
