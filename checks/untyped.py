"""Counts dictionaries whose values have no type: ``python -m checks.untyped``.

A shape that crosses a process is declared in `millrace_model`. What is counted are
``dict[str, Any]``, ``Mapping[str, Any]`` and ``MutableMapping[str, Any]``, and each use of a name
that stands for one. Edges, where Django, REST framework or ASGI give values, are left out. Each
room has a budget in ``pyproject.toml`` (``tool.millrace.untyped``), which is only ever lowered.
"""

from __future__ import annotations

import ast
import fnmatch
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from launcher import places

_MAPPINGS = ("dict", "Mapping", "MutableMapping")


def budgets() -> dict[str, int]:
    """The budget of each room."""
    found: dict[str, int] = _settings()["budgets"]
    return found


def _settings() -> Any:
    text = (places.REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["tool"]["millrace"]["untyped"]


def counts(root: Path = places.REPOSITORY) -> dict[str, int]:
    """The number of untyped dictionaries of each room."""
    edges = _settings()["edges"]
    return {room: sum(count for _, count in by_file(root, room, edges=edges)) for room in budgets()}


def by_file(root: Path, room: str, *, edges: Sequence[str] = ()) -> Iterator[tuple[Path, int]]:
    """The files of a room that have some, with their number."""
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((root / room).rglob("*.py"))
        if not any(fnmatch.fnmatch(str(path.relative_to(root)), each) for each in edges)
    }
    aliases = {path.stem: names for path, tree in trees.items() if (names := _aliases(tree))}
    for path, tree in trees.items():
        known = _aliases(tree) | _imported(tree, aliases)
        count = sum(_is_untyped(node) or _stands_for_one(node, known) for node in ast.walk(tree))
        if count:
            yield path, count


def _is_untyped(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return False
    names = [each.id if isinstance(each, ast.Name) else "" for each in node.slice.elts]
    mapping = isinstance(node.value, ast.Name) and node.value.id in _MAPPINGS
    return mapping and names == ["str", "Any"]


def _stands_for_one(node: ast.AST, aliases: set[str]) -> bool:
    """Whether it is the use of an alias, not its assignment."""
    return isinstance(node, ast.Name) and node.id in aliases and isinstance(node.ctx, ast.Load)


def _aliases(tree: ast.Module) -> set[str]:
    """The names that a module gives to such a type."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and _is_untyped(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {each.id for each in targets if isinstance(each, ast.Name)}
    return found


def _imported(tree: ast.Module, aliases: dict[str, set[str]]) -> set[str]:
    return {
        each.asname or each.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for each in node.names
        if each.name in aliases.get(node.module.rpartition(".")[2], ())
    }


def main() -> int:
    """Print the count and the budget of each room; with an argument, the count of its files."""
    for room in sys.argv[1:]:
        for path, count in by_file(places.REPOSITORY, room, edges=_settings()["edges"]):
            print(f"{count:5} {path.relative_to(places.REPOSITORY)}")
    found, allowed = counts(), budgets()
    for room, count in found.items():
        print(f"{room:10} {count:5} of {allowed[room]}")
    return int(any(found[room] > allowed[room] for room in allowed))


if __name__ == "__main__":
    sys.exit(main())
