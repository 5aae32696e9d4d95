"""Conversions between streams and tables, which are streams of changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.plain.program import Frame, Program
from millrace_compiler.plain.text import call


def to_table(program: Program, node: Operator) -> Mapping[str, Frame]:
    """``to_table``: the records with a key are the changes."""
    frame = program.input(node)
    program.drops_nulls(node, "a null key")
    variable = program.step(node, frame, call("where", "key IS NOT NULL"))
    moved = frame.moved or frame.port.key_changed
    return {"out": replace(frame.to(variable, program.port(node)), moved=moved)}


def to_stream(program: Program, node: Operator) -> Mapping[str, Frame]:
    """``to_stream``: the changes are the records."""
    return {"out": replace(program.input(node), port=program.port(node))}
