"""Writes a graph as a program: its nodes as statements, in the order in which they are lowered.

The calls are in the order of the nodes, so reading the program back results in a document with the
same order of nodes, children and sub-topologies.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

from millrace_compiler.declarations.calls import Call, Processor, with_keywords
from millrace_compiler.declarations.functions import Called, returns_of
from millrace_compiler.declarations.operator import Operator, Store
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.parameters.modules import files_of, imported
from millrace_compiler.parameters.settings import HANDLED, handler_functions
from millrace_compiler.program.classes import GIVEN, bound_names, is_plain, is_same, own_code
from millrace_compiler.program.comments import write_comment
from millrace_compiler.program.identities import Identities, base_of, slug
from millrace_compiler.program.labels import implied_label
from millrace_compiler.program.layout import WIDTH
from millrace_compiler.program.names import Names
from millrace_compiler.program.text import Lines, Link, Span, fits, is_fluent, statement_lines
from millrace_compiler.program.values import Values

PROGRAM = "job.py"
_LONGEST_CHAIN = 7
# Functions and classes that a program may import, so its own names must differ.
API = frozenset(
    {
        "Topology", "avro", "boolean", "bytes_", "custom_windows", "double", "float_", "hopping",
        "integer", "json", "key_value_store", "long", "protobuf", "reader", "session_store",
        "sessions", "sliding", "session_windowed", "string", "time_windowed", "topology",
        "tumbling", "unlimited", "until_time_limit", "until_window_closes", "versioned_store",
        "window_store", "within",
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


def write_program(graph: Graph, settings: Mapping[str, object]) -> Written:
    """The program of a graph without errors."""
    return _Writer(graph, settings).run()


@dataclass
class _Statement:
    """Nodes whose calls form a chain; a variable holds the result of the last one."""

    nodes: list[Operator] = field(default_factory=list)


class _Writer:
    def __init__(self, graph: Graph, settings: Mapping[str, object]) -> None:
        self.graph, self.settings = graph, settings
        self.order = [graph.operators[id_] for id_ in graph.order]
        self.uses = self._uses()
        labelled = [bool(_texts(each)[0]) for each in graph.operators.values()]
        #: whether at least half of the nodes have labels: then names and variables imply labels
        self.labels = 2 * sum(labelled) >= len(labelled)
        self.classes: dict[tuple[str, str], str] = {}
        self.code: list[tuple[str, list[str]]] = []
        #: The function of a code that has no class.
        self.functions: dict[str, str] = {}
        modules = settings.get("modules")
        self.modules: dict[str, str] = dict(modules) if isinstance(modules, dict) else {}
        self.files: dict[str, str] = files_of(self.modules)
        self.names = Names(set(API))
        self._place_classes()
        self._place_handlers()
        self.shown_ids = self._ids()
        self.body = Lines()
        self.values = Values(self.graph, self.names, self.classes)

    # ---- comments of each node ----------------------------------------------------------

    def _uses(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for operator in self.order:
            for edges in self.graph.inputs[operator.id].values():
                found.update(edge.source for edge in edges)
            found.update(each.id for each in operator.connected)
        return found

    def _ids(self) -> dict[str, str | None]:
        """The ids that the program must contain; ``None``: the node has its default id."""
        ids, found = Identities(), dict[str, str | None]()
        for operator in self.order:
            topics = [t for t in self._topics(operator) if t]
            called = self._called(operator)
            default = ids.default(base_of(called.method if called else operator.kind, topics))
            found[operator.id] = None if ids.take(operator.id) == default else operator.id
            for store in operator.stores:
                if store.id not in found:
                    self._store_id(store, ids, found)
        for operator in self.graph.operators.values():
            if isinstance(operator, Store) and operator.id not in found:
                self._store_id(operator, ids, found)
        return found

    @staticmethod
    def _store_id(store: Store, ids: Identities, found: dict[str, str | None]) -> None:
        default = ids.default_of_store(store.store_name())
        found[store.id] = None if ids.take(store.id) == default else store.id

    @staticmethod
    def _topics(operator: Operator) -> list[str]:
        topics = operator.values.get("topics")
        one = operator.values.get("topic")
        if isinstance(topics, tuple):
            return [str(topic) for topic in topics]
        return [str(one)] if one else []

    def _about(
        self, operator: Operator, indent: int, variable: str | None
    ) -> tuple[list[str], dict[str, object]]:
        """The comment of a node, and keywords for what its comment and variable do not imply.

        Name, label and description can be read back from comment, keywords and variable.
        """
        label, description = _texts(operator)
        implied = implied_label(operator.kind, operator.id, variable) if self.labels else None
        none = "" if implied else None
        id_ = "id" if isinstance(operator, Store) else "name"
        about: dict[str, object] = {id_: self.shown_ids[operator.id]}
        width = WIDTH - indent
        comment = write_comment(None, description, width) if label == implied else None
        if comment is None:
            comment = write_comment(label, description, width)
        if comment is None:
            return [], about | {"label": label or none, "description": description}
        return comment, about | {"label": None if label else none}

    # ---- processors ---------------------------------------------------------------------------

    def _place_classes(self) -> None:
        """Puts classes that only contain definitions into the program, others into own modules."""
        for operator in self.order:
            for call in operator.words():
                for arg in _arguments(call):
                    if isinstance(arg, Processor):
                        self._place(arg, operator)

    def _place(self, found: Processor, operator: Operator) -> None:
        placed = (found.code, found.class_name) in self.classes
        if not placed and found.called and self._place_function(found, found.called, operator):
            return
        self._place_class(found, operator.id, [operator.id])

    def _place_handlers(self) -> None:
        """Puts the functions that handle errors into the program, like classes."""
        for kind, function in handler_functions(self.settings).items():
            found = Processor(function["code"], function["name"])
            self._place_class(found, f"{kind}_errors", [])

    def _place_class(self, found: Processor, base: str, owner: list[str]) -> None:
        """``owner``: the node; ``base``: the name of a module of its own."""
        key = (found.code, found.class_name)
        if key in self.classes:
            return
        for code, owners in self.code:
            if code == found.code and is_same(own_code(code, found.class_name) or "", code):
                self.classes[key] = found.class_name
                owners.extend(owner)
                return
        if self._fits(found.code, found.class_name):
            self.classes[key] = found.class_name
            self.code.append((found.code, owner))
            self.names.taken |= bound_names(found.code)
            return
        stem = self.names.take(slug(base).replace("-", "_") or "processor")
        path = f"{stem}.py"
        while path == PROGRAM or path in self.files:
            path = f"{PurePath(path).stem}_.py"
        self.files[path] = found.code
        self.classes[key] = f"{path}:{found.class_name}"

    def _place_function(self, found: Processor, called: Called, operator: Operator) -> bool:
        """Puts a function that a class only calls into the program, in place of the class."""
        for code, owners in self.code:
            if code == called.code and self.functions.get(code) == called.function:
                owners.append(operator.id)
                break
        else:
            if not self._fits(called.code, called.function):
                return False
            self.code.append((called.code, [operator.id]))
            self.names.taken |= bound_names(called.code)
            self.functions[called.code] = called.function
        self.classes[found.code, found.class_name] = called.function
        return True

    def _called(self, operator: Operator) -> Called | None:
        """The function in the program that takes the place of a processor's class."""
        found = operator.words()[-1].args[:1] if operator.runs_python else ()
        for arg in found:
            if isinstance(arg, Processor) and arg.called is not None:
                placed = self.classes[arg.code, arg.class_name]
                return arg.called if placed == arg.called.function else None
        return None

    def _worded(self, operator: Operator) -> list[Call]:
        """The calls of a node."""
        calls = operator.words()
        called = self._called(operator)
        if called is None:
            return calls
        types = dict(calls[-1].keywords)
        returns = returns_of(called.method, types.get("key_type"), types.get("value_type"))
        made = Call(called.method, (ast.Name(called.function),))
        return [with_keywords(made, returns=returns)]

    def _fits(self, code: str, name: str) -> bool:
        made = own_code(code, name)
        if made is None or not is_same(made, code) or not is_plain(code, annotated=True):
            return False
        names = bound_names(code)
        free = names.isdisjoint(self.names.taken) and names.isdisjoint(self.names.words)
        return free and all(x.isprintable() or x == "\n" for x in code)

    # ---- statements -----------------------------------------------------------------------------

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
        if not ports or before.family == "sources" or self.uses[before.id] != 1:
            return False
        edges = self.graph.inputs[operator.id][ports[0].name]
        first = edges[0] if edges else None
        if first is None or first.source != before.id or self.values.is_mapping(before):
            return False
        # As a person would, end the chain at a table to name it, and before a sink if the chain
        # is a single node with a comment.
        table = before.names_result and not operator.continues_table
        commented = len(statement.nodes) == 1 and operator.family == "sinks" and any(_texts(before))
        return not table and not commented and len(statement.nodes) < _LONGEST_CHAIN

    def run(self) -> Written:
        statements = self._statements()
        for statement in statements:
            self._stores(statement)
            self._statement(statement)
        for store in self.graph.operators.values():
            if isinstance(store, Store) and not self.uses[store.id]:
                self._store_variable(store)
                name = ast.Name(self.values.variables[store.id])
                call = ast.Call(ast.Attribute(ast.Name("topology"), "add_store"), [name], [])
                self.body.statement(statement_lines([Link(call, [], store.id)], ""))
        return self._file()

    def _stores(self, statement: _Statement) -> None:
        """Assigns variables to stores that are shared, have a label, or belong to processors."""
        for operator in statement.nodes:
            for store in operator.stores:
                if store.id in self.values.variables or store.id in self.values.stores:
                    continue
                _, about = self._about(store, 0, None)
                keyword = about.get("label") or about.get("description")
                labelled = any(_texts(store)) and not keyword
                if labelled or operator.many_stores or self.uses[store.id] > 1:
                    self._store_variable(store)
                else:
                    self.values.stores[store.id] = with_keywords(store.words()[0], **about)

    def _store_variable(self, store: Store) -> None:
        name = self.names.take(f"{store.store_name()} store", store.id, "store")
        comment, about = self._about(store, 0, name)
        value = self.values.call(with_keywords(store.words()[0], **about), store)
        self.values.variables[store.id] = name
        self.body.statement(statement_lines([Link(value, comment, store.id)], name))

    def _statement(self, statement: _Statement) -> None:
        variable = self._variable(statement.nodes[-1])
        links = self._links(statement, variable)
        before = "x" * 20 if variable else ""
        first, *rest = statement.nodes
        alone = len(rest) == 1 and not is_fluent(links) and not fits(links, before)
        # A comment above a line with several calls would be read as that of the last call.
        others = any(link.comment for link in links if link.node != first.id)
        alone = alone or bool(links[0].comment and not others and fits(links, " " * 4))
        if rest and alone:
            self._statement(_Statement([first]))
            self._statement(_Statement(rest))
            return
        if variable:
            self.values.variables[statement.nodes[-1].id] = variable
            self.names.taken.add(variable)
        self.body.statement(statement_lines(links, variable or ""))

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

    def _root(self, operator: Operator) -> ast.expr:
        ports = operator.inputs()
        if not ports:
            return ast.Name("topology")
        return self.values.input(operator, ports[0].name, 0)

    def _settings(self) -> dict[str, object]:
        """The settings as arguments: functions among the handlers, and modules nobody imports."""
        found = {k: v for k, v in self.settings.items() if v is not None and k != "modules"}
        functions = handler_functions(self.settings)
        for kind in HANDLED:
            found.pop(f"{kind}_function", None)
            if kind in functions:
                function = functions[kind]
                found[f"{kind}_handler"] = Processor(function["code"], function["name"])
        codes = [code for code, _ in self.classes]
        unused = [name for name in self.modules if name not in imported(codes, self.modules)]
        return {**found, "modules": unused} if unused else found

    # ---- the file -------------------------------------------------------------------------------

    def _file(self) -> Written:
        document = self.graph.document
        keywords: dict[str, object] = {}
        is_docstring, docstring = _docstring(document.name, document.description)
        if is_docstring:
            keywords["description"] = ast.Name("__doc__")
        elif document.description and document.description.strip():
            keywords["description"] = document.description
        if document.topics:
            keywords["partitions"] = dict(document.topics)
        if not self.labels:
            keywords["labels"] = False
        keywords |= self._settings()
        made = Call("Topology", (document.name,), tuple(keywords.items()))
        head = self.values.call(made, None)
        file = Lines()
        file.add(docstring)
        file.blank()
        used = {name for code, _ in self.code for name in _names(code)} & set(GIVEN)
        file.add(_import(self.values.imports | used))
        for code, owners in self.code:
            file.lines += ["", ""]
            file.add([(line, owners) for line in _trimmed(code)])
        if self.code:
            file.lines.append("")
            file.lines.append("")
        file.blank()
        for name, text, owner in self.values.constants:
            file.add([(line, [owner] if owner else []) for line in f"{name} = {text}".split("\n")])
            file.blank()
        file.add(statement_lines([Link(head, [], "")], "topology"))
        file.blank()
        file.append(self.body)
        file.lines += ["", "", 'if __name__ == "__main__":', "    topology.main()"]
        files = {PROGRAM: "\n".join(file.lines) + "\n", **self.files}
        spans = file.spans(PROGRAM)
        for (code, class_name), place in self.classes.items():
            if ":" in place:
                spans += [
                    Span(o.id, place.partition(":")[0], 1, code.count("\n") + 1)
                    for o in self.order
                    if (o.values.get("code"), o.values.get("class_name")) == (code, class_name)
                ]
        return Written(files, spans)


def _arguments(call: Call) -> Iterator[object]:
    """The arguments of a call, and those of calls among them."""
    for arg in call.args:
        yield arg
        if isinstance(arg, Call):
            yield from _arguments(arg)


def _texts(operator: Operator) -> tuple[str | None, str | None]:
    """Label and description of a node."""
    node = operator.node
    return (node.label or "").strip() or None, (node.description or "").strip() or None


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
    from millrace_compiler.program.layout import block_text

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
