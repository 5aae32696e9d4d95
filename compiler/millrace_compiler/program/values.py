"""Converts the arguments of a program's calls to trees of :mod:`ast`."""

from __future__ import annotations

import ast

from millrace_compiler.declarations.calls import Call, Chain, Input, Processor
from millrace_compiler.declarations.operator import Operator, Store
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.program.layout import block_text
from millrace_compiler.program.names import Names


class Values:
    """Builds trees of values; collects the names to import and the texts that need a constant."""

    def __init__(self, graph: Graph, names: Names, classes: dict[tuple[str, str], str]) -> None:
        self.graph, self.names, self.classes = graph, names, classes
        self.imports: set[str] = set()
        #: Variables of nodes and stores by id.
        self.variables: dict[str, str] = {}
        #: Calls of the stores that have no variable.
        self.stores: dict[str, Call] = {}
        #: Constants for texts of several lines: name, literal, node.
        self.constants: list[tuple[str, str, str | None]] = []
        self._known: dict[tuple[str, str], str] = {}

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

    def method(self, root: ast.expr | None, call: Call, operator: Operator) -> ast.Call:
        """A call of a chain: on its root, or by its name alone."""
        function = ast.Name(call.function) if root is None else ast.Attribute(root, call.function)
        return self._call(function, call, operator)

    def _call(self, function: ast.expr, call: Call, operator: Operator | None) -> ast.Call:
        args = [self.tree(arg, operator, "expression") for arg in call.args]
        keywords = [ast.keyword(k, self.tree(v, operator, k)) for k, v in call.keywords]
        for arg, tree in zip(call.args, args, strict=True):
            # A class of another file is named by text, so its arguments are beside it.
            if isinstance(arg, Processor) and arg.arguments and isinstance(tree, ast.Constant):
                value = self.tree(dict(arg.arguments), operator, "arguments")
                keywords.insert(0, ast.keyword("arguments", value))
        return ast.Call(function, args, keywords)

    def call(self, call: Call, operator: Operator | None) -> ast.Call:
        """A call of a function, which is imported."""
        self.imports.add(call.function)
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
            case Processor():
                return self._processor(value, operator)
            case Operator() if value.id in self.variables:
                return ast.Name(self.variables[value.id])
            case Store():
                return self.tree(self.stores[value.id], value, hint)
            case Call():
                return self.call(value, operator)
            case str() if "\n" in value.strip():
                return self._constant(value, operator, hint)
            case str() | bool() | int() | float() | None:
                return ast.Constant(value)
            case list() | tuple():
                return ast.List([self.tree(item, operator, hint) for item in value])
            case dict():
                keys = [ast.Constant(key) for key in value]
                return ast.Dict([*keys], [self.tree(v, operator, hint) for v in value.values()])
        raise TypeError(f"no words for {type(value).__name__}")

    def _processor(self, value: Processor, operator: Operator | None) -> ast.expr:
        """A class, an instance if it has arguments, or the text that names a class of a file."""
        place = self.classes[value.code, value.class_name]
        if ":" in place:
            return ast.Constant(place)
        given = [ast.keyword(k, self.tree(v, operator, k)) for k, v in value.arguments.items()]
        return ast.Call(ast.Name(place), [], given) if given else ast.Name(place)

    def _constant(self, text: str, operator: Operator | None, hint: str) -> ast.expr:
        """A text of several lines, as a constant above the topology."""
        owner = operator.id if operator else ""
        key = (owner, text)
        if key not in self._known:
            base = self.names.take(f"{owner} {hint}").upper()
            while base in self.names.taken:
                base += "_"
            self.names.taken.add(base)
            self._known[key] = base
            self.constants.append((base, block_text(text), owner or None))
        return ast.Name(self._known[key])
