"""Writes the functions of a program that are fragments."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from millrace_compiler.declarations.calls import Call
from millrace_compiler.declarations.operator import Operator
from millrace_compiler.program.body import Body
from millrace_compiler.program.fragments import Definition, Fragments
from millrace_compiler.program.layout import WIDTH, flat, layout
from millrace_compiler.program.names import Names
from millrace_compiler.program.placed import Placed
from millrace_compiler.program.text import Line, Lines
from millrace_compiler.program.used import InputPort, Use
from millrace_compiler.program.values import Constants, Values

_CLASSES = {"stream": "Stream", "table": "Table", "global_table": "GlobalTable"}


@dataclass
class Functions:
    """Writes the functions of the fragments, above the topology."""

    fragments: Fragments
    placed: Placed
    constants: Constants
    names: Names
    labels: bool
    #: the name of each function
    named: dict[str, str] = field(default_factory=dict)

    def run(self) -> list[Lines]:
        """Return the functions, those that others call first."""
        for reference in self.fragments.definitions:
            name = reference.rpartition("@")[0]
            self.named[reference] = self.names.take(name, "part")
        return [self._function(each) for each in self.fragments.definitions.values()]

    def _function(self, made: Definition) -> Lines:
        names = Names(set(self.names.taken))
        values = Values(made.graph, self.placed.classes, self.constants, made.placeholders)
        values.prefix = f"{self.named[made.reference]} "
        values.owners = self.fragments.nodes[made.reference]
        args = []
        for port in made.ports.inputs:
            operator = cast(InputPort, made.graph.operators[port])
            preferred = "records" if operator.role == "stream" else operator.role
            variable = names.take(port if port != "in" else preferred)
            values.variables[port] = variable
            args.append(f"{variable}: {self._class(operator.role)}")
        for name in made.placeholders.variables:
            variable = names.take(name)
            made.placeholders.variables[name] = variable
            args.append(f"{variable}: str")
        body = Body(
            made.graph, names, self.placed, values, labels=self.labels, functions=self.named,
            indent=4,
        )  # fmt: skip
        body.returned = _only(made)
        lines = Lines()
        lines.add(layout(self._decorator(made, values), 0, "@").split("\n"))
        lines.add(_signature(self.named[made.reference], args, self._returns(made)))
        lines.append(body.run())
        if body.returned is None or not body.returns:
            lines.statement(self._return(made, values))
        return self._owned(lines, made)

    def _owned(self, lines: Lines, made: Definition) -> Lines:
        """The lines with the nodes that they become, and those that stand for the fragment."""
        nodes, uses = self.fragments.nodes[made.reference], self.fragments.uses[made.reference]
        for number in range(1, len(lines.lines) + 1):
            local = lines.owners.get(number, [])
            lines.owners[number] = [id_ for each in local for id_ in nodes.get(each, [])] + uses
        return lines

    def _class(self, role: str) -> str:
        name = _CLASSES[role]
        self.constants.imports.add(name)
        return name

    def _decorator(self, made: Definition, values: Values) -> ast.expr:
        raw, (name, _, version) = made.raw, made.reference.rpartition("@")
        keywords: dict[str, object] = {}
        if int(version) != 1:
            keywords["version"] = int(version)
        inputs = {port: _input_call(made.graph.operators[port]) for port in made.ports.inputs}
        if inputs != {"in": Call("stream_input")}:
            keywords["inputs"] = inputs
        outputs = {port: _output_call(made.graph.operators[port]) for port in made.ports.outputs}
        if any(each.keywords for each in outputs.values()):
            keywords["outputs"] = outputs
        elif made.ports.outputs != ("out",):
            keywords["outputs"] = list(made.ports.outputs)
        parameters = raw.get("parameters")
        if parameters:
            keywords["parameters"] = {
                each: _parameter_call(cast(Mapping[str, object], row))
                for each, row in parameters.items()
            }
        keywords["description"] = raw.get("description") or None
        given = tuple((key, value) for key, value in keywords.items() if value is not None)
        # What the decorator has are texts as they are, also if they look like a parameter.
        plain = Values(made.graph, self.placed.classes, self.constants)
        plain.prefix = values.prefix
        return plain.call(Call("fragment", (name,), given), None)

    def _returns(self, made: Definition) -> str:
        classes = {name: self._class(self._role(made, name)) for name in made.outputs}
        if tuple(classes) == ("out",):
            return classes["out"]
        return f"dict[str, {' | '.join(sorted(set(classes.values())))}]" if classes else "None"

    def _role(self, made: Definition, port: str) -> str:
        [edge] = made.graph.inputs[port]["in"]
        return self._role_of(made, edge.source, edge.source_port)

    def _role_of(self, made: Definition, id_: str, port: str) -> str:
        operator = made.graph.operators[id_]
        if isinstance(operator, InputPort):
            return operator.role
        if isinstance(operator, Use):
            return self._role(self.fragments.definitions[operator.reference], port)
        role = next((each.role for each in operator.out_ports if each.name == port), "stream")
        if role != "same":
            return role
        [edge, *_] = made.graph.inputs[id_][operator.inputs()[0].name]
        return self._role_of(made, edge.source, edge.source_port)

    def _return(self, made: Definition, values: Values) -> list[Line]:
        outputs = {port: values.input(made.graph.operators[port], "in", 0) for port in made.outputs}
        if tuple(outputs) == ("out",):
            return [(f"    return {flat(outputs['out'])}", [])]
        if not outputs:
            return []
        keys: list[ast.expr | None] = [ast.Constant(port) for port in outputs]
        tree = ast.Dict(keys, list(outputs.values()))
        text = "    " + layout(tree, 4, "return ")
        return [(line, []) for line in text.split("\n")]


def _only(made: Definition) -> str | None:
    """The node whose call a function can return; None if it returns several, or an input."""
    if tuple(made.outputs) != ("out",):
        return None
    operator = made.outputs["out"]
    [edge] = made.graph.inputs["out"]["in"]
    alone = not isinstance(operator, InputPort) and edge.source_port == "out"
    return operator.id if alone else None


def _input_call(operator: Operator) -> Call:
    port = cast(InputPort, operator)
    params = {name: port.node.params.get(name) for name in ("key", "value")}
    keywords = {**{name: each or None for name, each in params.items()}, **_texts(operator)}
    given = tuple((name, each) for name, each in keywords.items() if each is not None)
    return Call(f"{port.role}_input", (), given)


def _output_call(operator: Operator) -> Call:
    given = ((name, each) for name, each in _texts(operator).items() if each is not None)
    return Call("fragment_output", (), tuple(given))


def _texts(operator: Operator) -> dict[str, str | None]:
    node = operator.node
    return {"label": node.label or None, "description": node.description or None}


def _parameter_call(row: Mapping[str, object]) -> Call:
    default, type_ = row.get("default"), row.get("type")
    implied = "boolean" if isinstance(default, bool) else "text"
    if isinstance(default, int | float) and not isinstance(default, bool):
        implied = "number"
    keywords = {"type": type_ if type_ != implied else None, "description": row.get("description")}
    given = tuple((name, each) for name, each in keywords.items() if each)
    return Call("parameter", (default,), given)


def _signature(name: str, args: list[str], returns: str) -> list[str]:
    line = f"def {name}({', '.join(args)}) -> {returns}:"
    if len(line) <= WIDTH:
        return [line]
    if 4 + len(", ".join(args)) <= WIDTH:
        return [f"def {name}(", f"    {', '.join(args)}", f") -> {returns}:"]
    return [f"def {name}(", *(f"    {each}," for each in args), f") -> {returns}:"]
