"""Converts the arguments of a program's calls to trees of :mod:`ast`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace_compiler.declarations.calls import Call, Chain, Function, Input, Processor
from millrace_compiler.declarations.operator import Operator, Store
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.program.layout import block_text
from millrace_compiler.program.names import Names
from millrace_compiler.program.placeholders import Placeholders


@dataclass
class Constants:
    """What a program has once: the names to import, and constants for texts of several lines."""

    names: Names
    imports: set[str] = field(default_factory=set)
    #: name, literal, nodes
    found: list[tuple[str, str, list[str]]] = field(default_factory=list)
    _known: dict[tuple[str, str], str] = field(default_factory=dict)

    def take(self, text: str, owner: str, hint: str, nodes: list[str]) -> str:
        """The name of a text of several lines, as a constant above the topology."""
        key = (owner, text)
        if key not in self._known:
            base = self.names.take(f"{owner} {hint}").upper()
            while base in self.names.taken:
                base += "_"
            self.names.taken.add(base)
            self._known[key] = base
            self.found.append((base, block_text(text), nodes))
        return self._known[key]


class Values:
    """Builds trees of values of one graph."""

    def __init__(
        self,
        graph: Graph,
        classes: Mapping[tuple[str, str], str],
        constants: Constants,
        placeholders: Placeholders | None = None,
    ) -> None:
        self.graph, self.classes, self.constants = graph, classes, constants
        self.placeholders = placeholders or Placeholders()
        #: Variables of nodes and stores by id.
        self.variables: dict[str, str] = {}
        #: Calls of the stores that have no variable.
        self.stores: dict[str, Call] = {}
        #: Of a fragment: the start of the names of constants, and the nodes that it becomes.
        self.prefix = ""
        self.owners: Mapping[str, list[str]] = {}

    def is_mapping(self, operator: Operator) -> bool:
        """Whether a node's call returns its output ports by name."""
        if operator.dynamic_outputs is None:
            return False
        return operator.returns_ports or operator.outputs() != ("out",)

    def input(self, operator: Operator, port: str, index: int) -> ast.expr:
        """The variable of a port's input, subscripted by the output port if necessary."""
        edge = self.graph.inputs[operator.id][port][index]
        name = ast.Name(self.variables[edge.source])
        if self.is_mapping(self.graph.operators[edge.source]):
            return ast.Subscript(name, ast.Constant(edge.source_port))
        return name

    def method(self, root: ast.expr | None, call: Call, operator: Operator | None) -> ast.Call:
        """A call of a chain: on its root, or by its name alone."""
        function = ast.Name(call.function) if root is None else ast.Attribute(root, call.function)
        return self._call(function, call, operator)

    def _call(self, function: ast.expr, call: Call, operator: Operator | None) -> ast.Call:
        args = [self.tree(arg, operator, "expression") for arg in call.args]
        keywords = [ast.keyword(k, self.tree(v, operator, k)) for k, v in call.keywords]
        for arg, tree in zip(call.args, args, strict=True):
            # Beside a class of another file, which is named by text, and beside one whose instance
            # the program should not create, because it would get the names of parameters.
            if isinstance(arg, Processor) and arg.arguments and not isinstance(tree, ast.Call):
                value = self.tree(dict(arg.arguments), operator, "arguments")
                keywords.insert(0, ast.keyword("arguments", value))
        return ast.Call(function, args, keywords)

    def call(self, call: Call, operator: Operator | None) -> ast.Call:
        """A call of a function, which is imported."""
        self.constants.imports.add(call.function)
        return self._call(ast.Name(call.function), call, operator)

    def tree(self, value: object, operator: Operator | None, hint: str) -> ast.expr:
        """The tree of an argument; ``hint`` names a constant for it."""
        match value:
            case ast.expr():
                return value
            case Input(port=port, index=index) if operator is not None:
                return self.input(operator, port, index)
            case Chain(start=start, calls=calls):
                made = self.tree(start, operator, hint)
                for call in calls:
                    made = self._call(ast.Attribute(made, call.function), call, operator)
                return made
            case Function(code=code, name=name):
                return ast.Name(self.classes[code, name])
            case Processor():
                return self._processor(value, operator)
            case Operator() if value.id in self.variables:
                return ast.Name(self.variables[value.id])
            case Store():
                return self.tree(self.stores[value.id], value, hint)
            case Call():
                return self.call(value, operator)
            case str() | bool() | int() | float() | None:
                return self._constant(value, operator, hint)
            case list() | tuple():
                return ast.List([self.tree(item, operator, hint) for item in value])
            case dict():
                keys = [self._constant(key, operator, hint) for key in value]
                return ast.Dict([*keys], [self.tree(v, operator, hint) for v in value.values()])
        raise TypeError(f"no words for {type(value).__name__}")

    def _processor(self, value: Processor, operator: Operator | None) -> ast.expr:
        """A class, an instance if it has arguments, or the text that names a class of a file."""
        place = self.classes[value.code, value.class_name]
        if ":" in place:
            return ast.Constant(place)
        if self.placeholders.names(dict(value.arguments)):
            return ast.Name(place)
        given = [ast.keyword(k, self.tree(v, operator, k)) for k, v in value.arguments.items()]
        return ast.Call(ast.Name(place), [], given) if given else ast.Name(place)

    def _constant(
        self, value: str | float | None, operator: Operator | None, hint: str
    ) -> ast.expr:
        """A constant, or the parameter of a fragment; a text of several lines gets a name."""
        found = self.placeholders.tree(value) or ast.Constant(value)
        text = found.value if isinstance(found, ast.Constant) else None
        if not isinstance(text, str) or "\n" not in text.strip():
            return found
        owner = operator.id if operator else ""
        nodes = self.owners.get(owner, [owner] if owner else [])
        return ast.Name(self.constants.take(text, f"{self.prefix}{owner}", hint, nodes))
