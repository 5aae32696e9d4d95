"""Writes a graph as a program: its nodes as statements, in the order in which they are lowered.

The calls are in the order of the nodes, so reading the program back results in a document with the
same order of nodes, children and sub-topologies.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from millrace_compiler.declarations.calls import Call
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.program.body import Body, texts_of
from millrace_compiler.program.classes import GIVEN
from millrace_compiler.program.fragments import Fragments
from millrace_compiler.program.functions import Functions
from millrace_compiler.program.layout import WIDTH, block_text
from millrace_compiler.program.names import Names
from millrace_compiler.program.parameters import Parameters
from millrace_compiler.program.placed import PROGRAM, Placed
from millrace_compiler.program.text import Lines, Link, Span, statement_lines
from millrace_compiler.program.values import Constants, Values

# Functions and classes that a program may import, so its own names must differ.
API = frozenset(
    {
        "GlobalTable", "Stream", "Table", "Topology", "avro", "boolean", "bytes_",
        "custom_windows", "double", "float_", "fragment", "fragment_output",
        "global_table_input", "hopping", "integer", "json", "key_value_store", "long",
        "parameter", "protobuf", "reader", "session_store", "sessions", "sliding",
        "session_windowed", "stream_input", "string", "table_input", "time_windowed",
        "topology", "tumbling", "unlimited", "until_time_limit", "until_window_closes",
        "versioned_store", "window_store", "within",
        *GIVEN,
    }
)  # fmt: skip


@dataclass
class Written:
    """The files of a program by path, and the lines that belong to each node.

    ``between``: topics through which the queries of a plain program exchange records.
    ``identity``: see :func:`millrace_compiler.plain.identity.identity`.
    """

    files: dict[str, str]
    spans: list[Span]
    between: tuple[str, ...] = ()
    identity: str | None = None


def write_program(
    graph: Graph,
    settings: Mapping[str, object],
    fragments: Fragments | None = None,
    parameters: Parameters | None = None,
) -> Written:
    """The program of a graph without errors.

    ``fragments``: the graph with nodes that stand for fragments, and the functions that they are
    in the program; without them, it has the nodes that they contain. ``parameters``: those that the
    program declares; without them, it has their values.
    """
    whole = fragments or Fragments(graph, {}, {}, {})
    return _Writer(graph, settings, whole, parameters).run()


class _Writer:
    def __init__(
        self,
        graph: Graph,
        settings: Mapping[str, object],
        fragments: Fragments,
        parameters: Parameters | None,
    ) -> None:
        self.parameters = parameters
        settings = settings if parameters is None else parameters.settings
        self.expanded, self.graph, self.fragments = graph, fragments.graph, fragments
        operators = fragments.operators
        labelled = [bool(texts_of(each)[0]) for each in operators]
        #: whether at least half of the nodes have labels: then names and variables imply labels
        self.labels = 2 * sum(labelled) >= len(labelled)
        self.names = Names(set(API))
        self.placed = Placed(settings, self.names)
        for reference, definition in fragments.definitions.items():
            inner = definition.graph
            nodes = fragments.nodes[reference]
            self.placed.place((inner.operators[id_] for id_ in inner.order), nodes)
        self.placed.place(self.graph.operators[id_] for id_ in self.graph.order)
        self.placed.place_handlers()
        self.constants = Constants(self.names)
        if parameters is not None:
            for name in parameters.placeholders.variables:
                parameters.placeholders.variables[name] = self.names.take(name, "parameter")

    def run(self) -> Written:
        functions = Functions(self.fragments, self.placed, self.constants, self.names, self.labels)
        defined = functions.run()
        filled = None if self.parameters is None else self.parameters.placeholders
        values = Values(self.graph, self.placed.classes, self.constants, filled)
        body = Body(
            self.graph, self.names, self.placed, values, labels=self.labels,
            functions=functions.named,
        )  # fmt: skip
        return self._file(defined, body.run())

    def _file(self, functions: list[Lines], body: Lines) -> Written:
        document = self.graph.document
        keywords: dict[str, object] = {}
        is_docstring, docstring = _docstring(document.name, document.description)
        if is_docstring:
            keywords["description"] = ast.Name("__doc__")
        elif document.description and document.description.strip():
            keywords["description"] = document.description
        topics = document.topics if self.parameters is None else self.parameters.topics
        if topics:
            keywords["partitions"] = dict(topics)
        if not self.labels:
            keywords["labels"] = False
        keywords |= self.placed.arguments()
        made = Call("Topology", (document.name,), tuple(keywords.items()))
        # Its texts are as they are, also if they name a parameter.
        values = Values(self.graph, self.placed.classes, self.constants)
        head = values.call(made, None)
        code = self.placed.code
        file = Lines()
        file.add(docstring)
        file.blank()
        used = {name for text, _ in code for name in _names(text)} & set(GIVEN)
        file.add(_import(self.constants.imports | used))
        for text, owners in code:
            file.lines += ["", ""]
            file.add([(line, owners) for line in _trimmed(text)])
        if code:
            file.lines += ["", ""]
        file.blank()
        for name, text, owners in self.constants.found:
            file.add([(line, owners) for line in f"{name} = {text}".split("\n")])
            file.blank()
        for function in functions:
            file.blank()
            file.lines.append("")
            file.append(function)
        if functions:
            file.lines += ["", ""]
        file.add(statement_lines([Link(head, [], "")], "topology = "))
        file.blank()
        if self.parameters is not None:
            for name, variable in self.parameters.placeholders.variables.items():
                call = values.method(ast.Name("topology"), self.parameters.call(name), None)
                file.add(statement_lines([Link(call, [], "")], f"{variable} = "))
            file.blank()
        file.append(body)
        file.lines += ["", "", 'if __name__ == "__main__":', "    topology.main()"]
        files = {PROGRAM: "\n".join(file.lines) + "\n", **self.placed.files}
        spans = file.spans(PROGRAM)
        operators = [self.expanded.operators[id_] for id_ in self.expanded.order]
        for (text, class_name), place in self.placed.classes.items():
            if ":" in place:
                spans += [
                    Span(o.id, place.partition(":")[0], 1, text.count("\n") + 1)
                    for o in operators
                    if (o.values.get("code"), o.values.get("class_name")) == (text, class_name)
                ]
        return Written(files, spans)


def _names(code: str) -> set[str]:
    return {item.id for item in ast.walk(ast.parse(code)) if isinstance(item, ast.Name)}


def _trimmed(code: str) -> list[str]:
    return [line.rstrip() for line in code.strip("\n").split("\n")]


def _import(names: set[str]) -> list[str]:
    ordered = sorted(names, key=lambda n: (not n.isupper(), not n[0].isupper(), n))
    line = f"from millrace_runtime import {', '.join(ordered)}"
    if len(line) <= WIDTH:
        return [line]
    return ["from millrace_runtime import (", *(f"    {name}," for name in ordered), ")"]


def _docstring(name: str, description: str | None) -> tuple[bool, list[str]]:
    """The lines of the module's docstring, and whether the description can be read from it."""
    text = (description or "").strip()
    lines = text.split("\n")
    good = text and all(line.isprintable() and line == line.strip() for line in lines)
    if good and text == description:
        made = block_text(text if len(lines) == 1 else f"{text}\n", opening="")
        # A description of several lines ends with a line break, which is stripped on reading.
        if (len(lines) == 1 and len(made.split("\n")) == 1) or len(lines) > 1:
            return True, made.split("\n")
    shown = "".join(c if c.isprintable() else " " for c in name).strip()
    first = block_text(f"The topology “{shown}”.", opening="")
    return False, first.split("\n")
