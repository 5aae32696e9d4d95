"""The line of a call in a program, and the comment and the variable that describe its node."""

from __future__ import annotations

import ast
import linecache
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from millrace_compiler.program.comments import read_comment

_PACKAGE = str(Path(__file__).resolve().parents[1])
_PRAGMAS = ("# type:", "# noqa", "# fmt:", "# pragma", "# pyright", "#!")


@dataclass(frozen=True)
class Place:
    """A line of a program."""

    file: str
    line: int
    names: Mapping[str, object] = field(repr=False, hash=False, compare=False)

    def __str__(self) -> str:
        return f"{Path(self.file).name}, line {self.line}"

    @property
    def module(self) -> str:
        """The name of the module."""
        return str(self.names.get("__name__", ""))

    def source(self) -> list[str]:
        """Return the lines of the file; empty in an interactive session."""
        return linecache.getlines(self.file, dict(self.names))


def calling() -> Place:
    """Return the line outside of this package from which the package was called."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return Place("", 0, {})
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)


@dataclass(frozen=True)
class Comment:
    """The label and description in a node's comment, and the variable that holds its result."""

    label: str | None = None
    description: str | None = None
    variable: str | None = None


def comments(places: Mapping[str, Sequence[Place]]) -> dict[str, Comment]:
    """Return label, description and variable of each node, from comments and assignments.

    `places`: the lines of the calls that create a node, the first one first. If several nodes are
    on one line, the comment belongs to the last. A comment above a whole statement belongs to its
    last node if that has no other comment. The variable of a statement belongs to its last node.
    """
    by_file: dict[str, dict[str, Sequence[Place]]] = defaultdict(dict)
    for node, lines in places.items():
        by_file[lines[0].file][node] = lines
    found: dict[str, Comment] = {}
    for nodes in by_file.values():
        source = next(iter(nodes.values()))[0].source()
        found |= _of_file(source, {n: [p.line for p in ps] for n, ps in nodes.items()})
    return found


def _of_file(source: list[str], nodes: dict[str, list[int]]) -> dict[str, Comment]:
    last = {line: node for node, lines in nodes.items() for line in lines}
    blocks: dict[str, list[str]] = {}
    variables: dict[str, str] = {}
    for node, lines in nodes.items():
        for line in lines:
            block = _above(source, line) if last[line] == node else []
            if block:
                blocks[node] = block
                break
    for start, end, variable in _statements(source):
        within = [n for n, lines in nodes.items() if start <= lines[-1] <= end]
        block = _above(source, start)
        if within and block and within[-1] not in blocks and start not in last:
            blocks[within[-1]] = block
        if within and variable:
            variables[within[-1]] = variable
    return {
        node: Comment(*read_comment(blocks.get(node, [])), variables.get(node)) for node in nodes
    }


def _above(source: list[str], line: int) -> list[str]:
    """Return the lines of the comment directly above a line, without pragmas."""
    first = line - 1
    while first >= 1 and first <= len(source) and source[first - 1].strip().startswith("#"):
        first -= 1
    block = [text.strip() for text in source[first : line - 1]]
    return [text for text in block if not text.startswith(_PRAGMAS)]


def _statements(source: list[str]) -> list[tuple[int, int, str | None]]:
    """List first line, last line and assigned variable of statements that may contain nodes."""
    try:
        tree = ast.parse("".join(source))
    except SyntaxError:
        return []
    return [
        (item.lineno, item.end_lineno or item.lineno, _variable(item))
        for item in ast.walk(tree)
        if isinstance(item, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return)
    ]


def _variable(item: ast.stmt) -> str | None:
    match item:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return None
