"""The identity of a plain program: what Spark's checkpoints depend on.

It covers queries, sources and state. Labels, comments, variables and stateless steps are not part
of it, so a version in which only these differ continues the checkpoint.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping

from millrace_compiler.plain.parts import PARTS
from millrace_compiler.plain.program import Program, Statement
from millrace_compiler.plain.text import Call, Chain, Expr, Name, calls_in, flat, names_in

Statements = Mapping[str, Statement]


def identity(program: Program) -> str:
    """A hash that is equal for two programs if one can continue the checkpoint of the other.

    For each query it covers name, topics, output mode and stateful steps with their input types.
    """
    needed = program.needed()
    assigned = {each.target: each for each in needed if each.target is not None}
    queries = [
        _query(program, needed, assigned, each.expr)
        for each in needed
        if each.target is None and isinstance(each.expr, Call)
    ]
    classes = {part: _code(PARTS[part].text) for part in sorted(program.parts)}
    whole = json.dumps([sorted(queries), classes], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _code(text: str) -> str:
    """The text without docstrings, comments and formatting, which may change in a later release."""
    tree = ast.parse(text)
    for each in ast.walk(tree):
        if isinstance(each, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(each) is not None:
            each.body = each.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _query(
    program: Program, needed: list[Statement], assigned: Statements, write: Call
) -> tuple[str, str, list[str], list[object]]:
    rows, name = write.args
    mode = next((flat(value) for option, value in write.keywords if option == "mode"), "")
    reads: list[str] = []
    nodes: dict[str, None] = {}
    for each in _before(rows, assigned):
        reads += [_topics(call) for call in calls_in(each.expr) if call.function == "kafka.read"]
        if _keeps_state(each.expr, assigned):
            nodes.setdefault(each.node)
    steps: list[object] = [[_entering(program, id_), _texts(needed, id_)] for id_ in nodes]
    return flat(name), mode, reads, steps


def _topics(read: Call) -> str:
    """The topics of a source, without the start, which matters only for a new checkpoint."""
    pattern = tuple(each for each in read.keywords if each[0] == "pattern")
    return flat(Call(read.function, read.args, pattern))


def _before(expr: Expr, assigned: Statements) -> list[Statement]:
    """The statements that an expression depends on, sources first."""
    found: dict[str, Statement] = {}

    def visit(expr: Expr) -> None:
        for name in names_in(expr):
            if name in assigned and name not in found:
                visit(assigned[name].expr)
                found[name] = assigned[name]

    visit(expr)
    return list(found.values())


def _keeps_state(expr: Expr, assigned: Statements) -> bool:
    if _is_static(expr, assigned):
        return False
    return any(
        call.function in ("groupBy", "transformWithState")
        or (call.function == "join" and not _is_static(call.args[0], assigned))
        for call in calls_in(expr)
    )


def _is_static(expr: Expr, assigned: Statements) -> bool:
    """Whether an expression is a table that is read again in each micro-batch."""
    while isinstance(expr, Chain | Name):
        if isinstance(expr, Chain):
            expr = expr.base
        elif expr.source in assigned:
            expr = assigned[expr.source].expr
        else:
            return False
    return isinstance(expr, Call) and expr.function == "kafka.table"


def _entering(program: Program, node: str) -> list[list[tuple[str, str | None]]]:
    """The types of the records that enter a node, for each edge."""
    edges = (edge for edges in program.graph.inputs[node].values() for edge in edges)
    ports = (program.ports[edge.source, edge.source_port] for edge in edges)
    return [
        [(name, None if type_ is None else type_.text) for name, type_ in port.record()]
        for port in ports
    ]


def _texts(needed: list[Statement], node: str) -> list[str]:
    """The statements of a node, with variables numbered."""
    mine = [each for each in needed if each.node == node]
    targets = {each.target for each in needed}
    numbers: dict[str, str] = {}
    for each in mine:
        for name in (*names_in(each.expr), *filter(None, [each.target])):
            if name in targets:
                numbers.setdefault(name, f"v{len(numbers)}")
    return [flat(each.expr, numbers) for each in mine]
