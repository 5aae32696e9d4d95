"""Formats the statements of a program as ruff does, and maps lines to nodes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from millrace_model.plans import SpanJson

from millrace_compiler.program.layout import WIDTH, flat, layout


@dataclass(frozen=True)
class Span:
    """The lines of a file that belong to a node; 1-based, inclusive."""

    node: str
    path: str
    start: int
    end: int

    def to_json(self) -> SpanJson:
        """The span as in the response of the compile endpoint."""
        return {"node": self.node, "path": self.path, "start": self.start, "end": self.end}


@dataclass
class Link:
    """One call of a chain: the tree of the call alone, the comment above it, its node."""

    call: ast.Call
    comment: list[str]
    node: str

    @property
    def name(self) -> str:
        """The name of the method."""
        function = self.call.func
        return function.attr if isinstance(function, ast.Attribute) else flat(function)


Line = tuple[str, list[str]]


@dataclass
class Lines:
    """Lines with the nodes that they belong to."""

    lines: list[str] = field(default_factory=list)
    owners: dict[int, list[str]] = field(default_factory=dict)
    _after_chain: bool = False

    def add(self, lines: Sequence[Line] | Sequence[str]) -> None:
        """Adds lines, each with its owners or without any."""
        for line in lines:
            text, owners = (line, []) if isinstance(line, str) else line
            self.lines.append(text)
            if owners:
                self.owners[len(self.lines)] = [owner for owner in owners if owner]

    def statement(self, lines: list[Line]) -> None:
        """Adds a statement, with an empty line before and after a chain of several lines."""
        chain = any(text.lstrip().startswith(".") for text, _ in lines)
        if self.lines and (chain or self._after_chain):
            self.blank()
        self.add(lines)
        self._after_chain = chain

    def append(self, other: Lines) -> None:
        """Adds the lines of another part."""
        shift = len(self.lines)
        self.lines += other.lines
        self.owners |= {number + shift: owners for number, owners in other.owners.items()}

    def blank(self) -> None:
        """Adds an empty line, unless the last line is empty."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def spans(self, path: str) -> list[Span]:
        """The spans, with adjacent lines of a node merged, in the order of lines."""
        found: list[Span] = []
        open_: dict[str, int] = {}
        for number in sorted(self.owners):
            for node in dict.fromkeys(self.owners[number]):
                at = open_.get(node)
                if at is not None and found[at].end + 1 == number:
                    found[at] = Span(node, path, found[at].start, number)
                else:
                    open_[node] = len(found)
                    found.append(Span(node, path, number, number))
        return found


def statement_lines(links: list[Link], before: str, indent: int = 0) -> list[Line]:
    """Lays out a statement: on one line, split in its last call's brackets, or one call per line.

    ``before``: what the line begins with, ``"name = "`` or ``"return "``. If only the last node has
    a comment, it is placed above the statement, as a person would.
    """
    commented = [link for link in links if link.comment]
    pad = " " * indent
    if len(links) > 1 and len(commented) == 1 and commented[0].node == links[-1].node:
        bare = [replace(link, comment=[]) for link in links]
        return [*_comment(commented[0], pad), *statement_lines(bare, before, indent)]
    nodes = list(dict.fromkeys(link.node for link in links))
    whole = _joined(links)
    one_line = pad + before + flat(whole)
    inner = any(link.comment for link in links if link.node != nodes[0])
    last_only = not inner and not (len(nodes) > 1 and links[0].comment)
    if last_only and len(one_line) <= WIDTH:
        return [*_comment(links[0], pad), (one_line, nodes)]
    if last_only and not is_fluent(links):
        laid = (pad + layout(whole, indent, before)).split("\n")
        return [*_comment(links[0], pad), *((line, nodes) for line in laid)]
    if last_only and indent + 4 + len(flat(whole)) <= WIDTH:
        return [
            *_comment(links[0], pad),
            (f"{pad}{before}(", nodes[:1]),
            (f"{pad}    {flat(whole)}", nodes),
            (f"{pad})", nodes[-1:]),
        ]
    lines: list[Line] = [(f"{pad}{before}(", nodes[:1])]
    root = _subscript(links[0])
    if root is not None:
        lines.append((f"{pad}    {flat(root)}", [links[0].node]))
    for link in links:
        lines += [(f"{pad}    {line}", [link.node]) for line in link.comment]
        made = _link(link, indent + 4, "" if link is links[0] and root is None else ".")
        lines += [
            (f"{pad}    {line}" if number == 0 else line, [link.node])
            for number, line in enumerate(made.split("\n"))
        ]
    return [*lines, (f"{pad})", nodes[-1:])]


def _comment(link: Link, pad: str) -> list[Line]:
    return [(pad + line, [link.node]) for line in link.comment]


def is_fluent(links: list[Link]) -> bool:
    """Whether ruff puts each call on its own line if they do not fit on one."""
    return len(links) + (_subscript(links[0]) is not None) > 2


def fits(links: list[Link], before: str) -> bool:
    """Whether the calls fit on one line."""
    return len(before + flat(_joined(links))) <= WIDTH


def _subscript(link: Link) -> ast.expr | None:
    """The root of a chain that begins with an output port, such as ``split["a"]``."""
    function = link.call.func
    root = function.value if isinstance(function, ast.Attribute) else None
    return root if isinstance(root, ast.Subscript) else None


def _link(link: Link, indent: int, before: str) -> str:
    """The text of a call in a chain; with ``before``, without its root."""
    call = link.call
    if before:
        call = ast.Call(ast.Name(link.name), call.args, call.keywords)
    return layout(call, indent, before)


def _joined(links: list[Link]) -> ast.expr:
    """The calls as one tree."""
    made: ast.expr = links[0].call
    for link in links[1:]:
        made = ast.Call(ast.Attribute(made, link.name), link.call.args, link.call.keywords)
    return made
