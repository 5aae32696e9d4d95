"""Arranges the calls of one graph as statements: of the topology, or of a fragment's function."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace_compiler.declarations.calls import Call, with_keywords
from millrace_compiler.declarations.functions import returns_of
from millrace_compiler.declarations.operator import Operator, Store
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.program.comments import write_comment
from millrace_compiler.program.identities import Identities, base_of, slug
from millrace_compiler.program.labels import implied_label
from millrace_compiler.program.layout import WIDTH
from millrace_compiler.program.names import Names
from millrace_compiler.program.placed import Placed
from millrace_compiler.program.text import Lines, Link, fits, is_fluent, statement_lines
from millrace_compiler.program.used import InputPort, OutputPort, Use
from millrace_compiler.program.values import Values

_LONGEST_CHAIN = 7


@dataclass
class _Statement:
    """Nodes whose calls form a chain; a variable holds the result of the last one."""

    nodes: list[Operator] = field(default_factory=list)


class Body:
    """The statements of a graph, in the order in which its nodes are lowered.

    ``labels``: whether names and variables imply labels. ``functions``: those of the fragments, by
    name and version.
    """

    def __init__(
        self,
        graph: Graph,
        names: Names,
        placed: Placed,
        values: Values,
        *,
        labels: bool,
        functions: Mapping[str, str],
        indent: int = 0,
    ) -> None:
        self.graph, self.names, self.placed, self.values = graph, names, placed, values
        self.labels, self.functions, self.indent = labels, functions, indent
        self.ports = [each for each in graph.operators.values() if isinstance(each, InputPort)]
        ports = (InputPort, OutputPort)
        found = (graph.operators[id_] for id_ in graph.order)
        self.order = [each for each in found if not isinstance(each, ports)]
        self.uses = self._uses()
        self.shown_ids = self._ids()
        self.lines = Lines()
        #: of a function: the node that it returns, and whether the last statement does that
        self.returned: str | None = None
        self.returns = False

    def _uses(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for operator in self.graph.operators.values():
            for edges in self.graph.inputs[operator.id].values():
                found.update(edge.source for edge in edges)
            found.update(each.id for each in operator.connected)
        return found

    # ---- ids and comments of each node ----------------------------------------------------------

    def _ids(self) -> dict[str, str | None]:
        """The ids that the program must contain; ``None``: the node has its default id."""
        ids, found = Identities(), dict[str, str | None]()
        for port in self.ports:
            ids.take(port.id)
        for operator in self.order:
            default = ids.default(self._base(operator))
            found[operator.id] = None if ids.take(operator.id) == default else operator.id
            for store in operator.stores:
                if store.id not in found:
                    self._store_id(store, ids, found)
        for operator in self.graph.operators.values():
            if isinstance(operator, Store) and operator.id not in found:
                self._store_id(operator, ids, found)
        return found

    def _base(self, operator: Operator) -> str:
        """What the default id of a node is made of."""
        if isinstance(operator, Use):
            return slug(operator.reference.rpartition("@")[0]) or operator.kind
        called = self.placed.called(operator)
        original = self.values.placeholders.original
        topics = [original(topic) for topic in _topics(operator) if topic]
        return base_of(called.method if called else operator.kind, topics)

    def _store_id(self, store: Store, ids: Identities, found: dict[str, str | None]) -> None:
        default = ids.default_of_store(self._store_name(store))
        found[store.id] = None if ids.take(store.id) == default else store.id

    def _store_name(self, store: Store) -> str:
        return self.values.placeholders.original(store.store_name())

    def _about(
        self, operator: Operator, indent: int, variable: str | None
    ) -> tuple[list[str], dict[str, object]]:
        """The comment of a node, and keywords for what its comment and variable do not imply.

        Name, label and description can be read back from comment, keywords and variable.
        """
        label, description = texts_of(operator)
        implied = implied_label(operator.kind, operator.id, variable) if self.labels else None
        none = "" if implied else None
        id_ = "id" if isinstance(operator, Store) else "name"
        about: dict[str, object] = {id_: self.shown_ids[operator.id]}
        width = WIDTH - self.indent - indent
        comment = write_comment(None, description, width) if label == implied else None
        if comment is None:
            comment = write_comment(label, description, width)
        if comment is None:
            return [], about | {"label": label or none, "description": description}
        return comment, about | {"label": None if label else none}

    # ---- statements -----------------------------------------------------------------------------

    def run(self) -> Lines:
        """Write all statements."""
        for statement in self._statements():
            self._stores(statement)
            self._statement(statement)
        for store in self.graph.operators.values():
            if isinstance(store, Store) and not self.uses[store.id]:
                self._store_variable(store)
                name = ast.Name(self.values.variables[store.id])
                call = ast.Call(ast.Attribute(ast.Name("topology"), "add_store"), [name], [])
                self._write([Link(call, [], store.id)], "")
        return self.lines

    def _write(self, links: list[Link], before: str) -> None:
        self.lines.statement(statement_lines(links, before, self.indent))

    def _statements(self) -> list[_Statement]:
        statements: list[_Statement] = []
        for index, operator in enumerate(self.order):
            before = self.order[index - 1] if index else None
            if before and self._continues(before, operator, statements[-1]):
                statements[-1].nodes.append(operator)
            else:
                statements.append(_Statement([operator]))
        return statements

    def _continues(self, before: Operator, operator: Operator, statement: _Statement) -> bool:
        """Whether a node continues the chain of the previous node."""
        ports = operator.inputs()
        if isinstance(before, Use) or isinstance(operator, Use):
            return False
        if not ports or before.family == "sources" or self.uses[before.id] != 1:
            return False
        edges = self.graph.inputs[operator.id][ports[0].name]
        first = edges[0] if edges else None
        if first is None or first.source != before.id or self.values.is_mapping(before):
            return False
        # As a person would, end the chain at a table to name it, and before a sink if the chain
        # is a single node with a comment.
        table = before.names_result and not operator.continues_table
        commented = (
            len(statement.nodes) == 1 and operator.family == "sinks" and any(texts_of(before))
        )
        return not table and not commented and len(statement.nodes) < _LONGEST_CHAIN

    def _stores(self, statement: _Statement) -> None:
        """Assigns variables to stores that are shared, have a label, or belong to processors."""
        for operator in statement.nodes:
            for store in operator.stores:
                if store.id in self.values.variables or store.id in self.values.stores:
                    continue
                _, about = self._about(store, 0, None)
                keyword = about.get("label") or about.get("description")
                labelled = any(texts_of(store)) and not keyword
                if labelled or operator.many_stores or self.uses[store.id] > 1:
                    self._store_variable(store)
                else:
                    self.values.stores[store.id] = with_keywords(store.words()[0], **about)

    def _store_variable(self, store: Store) -> None:
        name = self.names.take(f"{self._store_name(store)} store", store.id, "store")
        comment, about = self._about(store, 0, name)
        value = self.values.call(with_keywords(store.words()[0], **about), store)
        self.values.variables[store.id] = name
        self._write([Link(value, comment, store.id)], f"{name} = ")

    def _statement(self, statement: _Statement) -> None:
        last = statement.nodes[-1]
        if last is self.order[-1] and last.id == self.returned and self.uses[last.id] == 1:
            self.returns = True
        variable = None if self.returns else self._variable(last)
        links = self._links(statement, variable)
        start = "return " if self.returns else "x" * 20 if variable else ""
        before = " " * self.indent + start
        first, *rest = statement.nodes
        alone = len(rest) == 1 and not is_fluent(links) and not fits(links, before)
        # A comment above a line with several calls would be read as that of the last call.
        others = any(link.comment for link in links if link.node != first.id)
        narrow = " " * (4 + self.indent)
        alone = alone or bool(links[0].comment and not others and fits(links, narrow))
        if rest and alone:
            self.returns = False
            self._statement(_Statement([first]))
            self._statement(_Statement(rest))
            return
        if variable:
            self.values.variables[last.id] = variable
            self.names.taken.add(variable)
        self._write(links, "return " if self.returns else f"{variable} = " if variable else "")

    def _variable(self, operator: Operator) -> str | None:
        """A free name for the variable of a node's result; ``None`` if it needs no variable."""
        if not self.uses[operator.id]:
            return None
        by_label = self.shown_ids[operator.id] is None and operator.family != "sources"
        words = (operator.node.label or "", operator.id) if by_label else (operator.id, "")
        return self.names.free(*words, "step")

    def _links(self, statement: _Statement, variable: str | None) -> list[Link]:
        links: list[Link] = []
        indent = 8 if len(statement.nodes) > 1 else 0
        for operator in statement.nodes:
            own = variable if operator is statement.nodes[-1] else None
            comment, about = self._about(operator, indent, own)
            calls = self._worded(operator)
            calls[-1] = with_keywords(calls[-1], **about)
            for index, call in enumerate(calls):
                root = None if links else self._root(operator)
                tree = self.values.method(root, call, operator)
                links.append(Link(tree, comment if index == 0 else [], operator.id))
        return links

    def _worded(self, operator: Operator) -> list[Call]:
        """The calls of a node."""
        calls = self.placed.words(operator)
        if isinstance(operator, Use):
            name = self.functions[operator.reference]
            return [Call(name, each.args, each.keywords) for each in calls]
        called = self.placed.called(operator)
        if called is None:
            return calls
        types = dict(calls[-1].keywords)
        returns = returns_of(called.method, types.get("key_type"), types.get("value_type"))
        made = Call(called.method, (ast.Name(called.function),))
        return [with_keywords(made, returns=returns)]

    def _root(self, operator: Operator) -> ast.expr | None:
        if isinstance(operator, Use):
            return None
        ports = operator.inputs()
        if not ports:
            return ast.Name("topology")
        return self.values.input(operator, ports[0].name, 0)


def texts_of(operator: Operator) -> tuple[str | None, str | None]:
    """Label and description of a node."""
    node = operator.node
    return (node.label or "").strip() or None, (node.description or "").strip() or None


def _topics(operator: Operator) -> list[str]:
    topics = operator.values.get("topics")
    one = operator.values.get("topic")
    if isinstance(topics, tuple):
        return [str(topic) for topic in topics]
    return [str(one)] if one else []
