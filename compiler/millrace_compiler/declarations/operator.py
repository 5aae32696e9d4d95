"""The base class of operators.

Each kind is a subclass of :class:`Operator` in ``operators/<family>/<kind>.py``; an instance is a
node with its parameters. The class declares ports, parameters and traits; the instance implements
:meth:`~Operator.check` (validates the parameters together), :meth:`~Operator.infer` (types of the
outputs), :meth:`~Operator.lower` (steps of the job) and :meth:`~Operator.summary` (one sentence).
Palette, forms, catalog, pages, validation and lowering are derived from these classes; nothing else
in the project lists operators.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from millrace_compiler.declarations.calls import Call, duration
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.ports import Columns, InPort, OutPort, Port
from millrace_compiler.declarations.steps import Handle, Keeps
from millrace_compiler.diagnostics.diagnostics import Diagnostic, Diagnostics
from millrace_compiler.diagnostics.guesses import guess
from millrace_compiler.documents.document import Node
from millrace_compiler.parameters.parameters import (
    MISSING,
    Duration,
    Faults,
    Parameter,
    choice_title,
)
from millrace_compiler.parameters.summaries import Sentence
from millrace_compiler.types.types import DataType, with_headers

FAMILIES: dict[str, str] = {
    "sources": "Sources",
    "stateless": "Stateless",
    "aggregations": "Aggregations",
    "joins": "Joins",
    "tables": "Tables",
    "processors": "Processor API",
    "stores": "Stores",
    "sinks": "Sinks",
}


@dataclass(frozen=True)
class Ask:
    """A question for the analyzer: the type of an expression of one parameter."""

    parameter: str
    text: str
    columns: Columns
    expects: DataType | None
    path: str | None
    #: Whether it is evaluated once for each record, so that random values can be recorded.
    once: bool = False
    #: Names and types of the functions in Python that it can call.
    functions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Buffer:
    """The rows of an operator that buffers its inputs instead of storing its result.

    ``keyed`` is the input port whose key the rows have. ``values`` maps the name of each value to
    its input port.
    """

    kind: str
    keyed: str
    values: Mapping[str, str]


class Scope:
    """The inputs of a node during type inference, and a place to report its faults."""

    def __init__(
        self,
        operator: Operator,
        inputs: Mapping[str, list[Port]],
        tables: Mapping[str, Port],
        report: Diagnostics,
    ) -> None:
        self.operator, self.inputs, self.report = operator, inputs, report
        #: The tables whose stores it reads, by node, as far as their types are known.
        self.tables = tables

    def one(self, port: str = "in") -> Port:
        """The input at a port with one edge."""
        return self.inputs[port][0]

    def all(self, port: str = "in") -> list[Port]:
        """The inputs at a port, in the order of the edges."""
        return self.inputs[port]

    def ask(
        self,
        parameter: str,
        text: str,
        columns: Columns,
        expects: DataType | None = None,
        path: str | None = None,
        *,
        once: bool = False,
    ) -> Ask:
        """A question for the analyzer; errors are reported at the parameter.

        ``once``: the expression is evaluated once for each record, so it may use random values and
        the processing time.
        """
        full = f"{parameter}{path}" if path else None
        called = self.operator.called_functions
        return Ask(parameter, text, columns, expects, full, once, tuple(called.items()))

    def fault(self, code: str, parameter: str, path: str | None = None, **data: object) -> None:
        """Reports a fault of this node."""
        self.operator.fault(self.report, code, parameter, path, **data)


Inference = Generator[list[Ask], list[DataType | None], Mapping[str, Port]]


class Operator:
    """Base class of all operators; see the module's documentation."""

    kind: ClassVar[str] = ""
    title: ClassVar[str]
    icon: ClassVar[str]
    help: ClassVar[str]
    synonyms: ClassVar[tuple[str, ...]] = ()
    #: Its guarantee, with Kafka Streams' rule, and why Spark's own operation is not used.
    guarantee: ClassVar[str]
    why: ClassVar[str] = (
        "The stream task processes records one by one, depth first, so order, timestamps and "
        "errors are those of each record. DataFrame operations do not keep them."
    )
    rules: ClassVar[tuple[str, ...]] = ()
    in_ports: ClassVar[tuple[InPort, ...]] = ()
    out_ports: ClassVar[tuple[OutPort, ...]] = ()
    #: Position in the palette within the family, lowest first.
    place: ClassVar[int] = 50
    #: Parameters that come first in the form, and those that come last.
    first: ClassVar[tuple[str, ...]] = ()
    last: ClassVar[tuple[str, ...]] = ()
    dynamic_inputs: ClassVar[str | None] = None
    dynamic_outputs: ClassVar[str | None] = None
    takes_store: ClassVar[tuple[str, ...]] = ()
    many_stores: ClassVar[bool] = False
    #: When it has a store without a store node, which is named by its id.
    unnamed_store: ClassVar[Literal["always", "on_demand", "never"]] = "never"
    stateful: ClassVar[bool] = False
    changes_key: ClassVar[bool] = False
    reads_clock: ClassVar[bool] = False
    #: Input ports whose records produce results, not only rows; None: all ports.
    driving_ports: ClassVar[tuple[str, ...] | None] = None
    #: A left or outer join of this kind keeps records with a null key, and so do nodes before it.
    keeps_null_keys: ClassVar[bool] = False
    #: Each input record produces exactly one output record.
    forwards_all: ClassVar[bool] = False
    #: Results are new records, without the metadata of an input record.
    makes_records: ClassVar[bool] = False
    #: Rows start with the value of an initializer, not of the first record.
    initializes: ClassVar[bool] = False
    #: Every task reads all records of its topic, from the beginning.
    reads_whole_topic: ClassVar[bool] = False
    #: Runs the user's Python code.
    runs_python: ClassVar[bool] = False
    #: Its records go outside of the topology: to a topic, the log, or wherever its code sends them.
    has_effects: ClassVar[bool] = False
    #: Parameters that name topics on the broker, which it reads or writes.
    topic_parameters: ClassVar[tuple[str, ...]] = ()
    #: Shows timestamps in its example, even if it does not read a clock.
    has_timestamps: ClassVar[bool] = False
    #: In a program, its result is assigned to a variable.
    names_result: ClassVar[bool] = False
    #: Continues the table before it: in a program, both share a variable.
    continues_table: ClassVar[bool] = False
    #: In a program, its call returns its output ports by name.
    returns_ports: ClassVar[bool] = False
    #: Rows that it keeps beside stores, if any.
    buffer: ClassVar[Buffer | None] = None
    #: Parameters that are positional arguments of the program's call.
    positional: ClassVar[tuple[str, ...]] = ()

    family: ClassVar[str]
    parameters: ClassVar[dict[str, Parameter[object]]] = {}

    def __init_subclass__(cls) -> None:
        found: dict[str, Parameter[object]] = {}
        for base in reversed(cls.__mro__):
            for value in vars(base).values():
                if isinstance(value, Parameter):
                    found[value.name] = value
        names = (*cls.first, *(name for name in found if name not in cls.last), *cls.last)
        cls.parameters = {name: found[name] for name in dict.fromkeys(names)}
        if cls.kind:
            cls.family = cls.__module__.split(".")[-2]

    def __init__(self, node: Node, report: Diagnostics) -> None:
        self.id, self.node = node.id, node
        #: What is connected to its port for stores: store nodes and, of a processor, tables.
        self.connected: tuple[Operator, ...] = ()
        #: Number of incoming edges of each port.
        self.incoming: Counter[str] = Counter()
        self.values: dict[str, object] = {}
        for name, parameter in self.parameters.items():
            raw = node.params.get(name, MISSING)
            self.values[name] = parameter.read(raw, Faults(report, node.id, name))
        for name in node.params:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                report.add(
                    "parameter_unknown",
                    node.id,
                    name,
                    kind=self.kind,
                    known=known,
                    guess=guess(name, self.parameters),
                )
        self.check(report)

    # ---- answers --------------------------------------------------------------------------

    def titled(self, *names: str) -> str:
        """Return the titles of parameters for a message: `“Topics” or “Topic pattern”`."""
        return " or ".join(f"“{self.parameters[name].title}”" for name in names)

    def is_set(self, parameter: str, choice: str) -> dict[str, str]:
        """Return the facts `other` and `value` of a message about another parameter's choice."""
        return {"other": self.parameters[parameter].title, "value": choice_title(choice)}

    @property
    def label(self) -> str:
        """The node's label, or the title of its kind."""
        return (self.node.label or "").strip() or self.title

    def fault(
        self,
        report: Diagnostics,
        code: str,
        parameter: str,
        path: str | None = None,
        **data: object,
    ) -> None:
        """Reports a fault of this node."""
        full = f"{parameter}{path}" if path else None
        report.put(Diagnostic(code, self.id, parameter, full, None, data))

    def check(self, report: Diagnostics) -> None:
        """Reports parameters that are not valid together; types are not known yet."""

    def inputs(self) -> tuple[InPort, ...]:
        """The input ports of this node."""
        return self.in_ports

    def outputs(self) -> tuple[str, ...]:
        """The names of the output ports of this node."""
        return tuple(port.name for port in self.out_ports)

    def infer(self, scope: Scope) -> Inference:
        """Infers the types of the outputs: yields lists of questions, receives lists of types."""
        raise NotImplementedError

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        """Adds this node's steps to the job and returns the handles of its output ports."""
        raise NotImplementedError

    def words(self) -> list[Call]:
        """The calls for this node in a program: methods of its first input, or of the topology.

        The last call adds the node; the writer adds the argument ``name``.
        """
        words = self.changed()
        args = [words.pop(name) for name in self.positional if name in words]
        return [
            self.with_store(Call(self.kind.rpartition(".")[2], tuple(args), tuple(words.items())))
        ]

    def changed(self, *skipped: str) -> dict[str, object]:
        """The parameters that differ from their defaults, as arguments of a program's call."""
        found: dict[str, object] = {}
        for name, parameter in self.parameters.items():
            value = self.values[name]
            if name in skipped or value is None or value == parameter.default:
                continue
            found[name] = duration(value) if isinstance(parameter, Duration) else value  # type: ignore[arg-type]
        return found

    def raw(self, name: str) -> object:
        """A parameter's value in the document, such as the text of a type."""
        return self.node.params.get(name)

    def words_with_code(self) -> list[Call]:
        """The calls of :meth:`words` with the source of the functions that expressions call."""
        return self.words()

    def words_with_functions(self) -> list[Call] | None:
        """The calls with functions in place of expressions; ``None`` if there are none."""
        return None

    @property
    def called_functions(self) -> Mapping[str, str]:
        """The types of the functions in Python that its expressions can call, by name."""
        return {}

    @property
    def python(self) -> bool:
        """Whether the user's Python code runs in it."""
        return self.runs_python or bool(self.called_functions)

    def step_functions(self) -> dict[str, object] | None:
        """The functions that its expressions call, as a parameter of its steps."""
        return None

    def with_store(self, made: Call) -> Call:
        """The call with the connected store as an argument, if there is one."""
        if not self.takes_store or not self.stores:
            return made
        return Call(made.function, made.args, (*made.keywords, ("store", self.stores[0])))

    def summary(self) -> Sentence:
        """A sentence that describes the node, without the final period."""
        return Sentence(self.title.lower())

    @property
    def evaluates(self) -> bool:
        """Whether it evaluates expressions or runs Python for each record."""
        expressions = (parameter.expression() for parameter in self.parameters.values())
        return self.runs_python or any(each is not None for each in expressions)

    def drives(self, port: str) -> bool:
        """Whether the records of an input port produce results, not only rows."""
        return self.driving_ports is None or port in self.driving_ports

    @property
    def decides_versions(self) -> bool:
        """Whether its own store decides if its table is versioned; if not, its inputs decide."""
        return True

    @property
    def stores(self) -> tuple[Store, ...]:
        """The connected store nodes."""
        return tuple(each for each in self.connected if isinstance(each, Store))

    @property
    def own_stores(self) -> tuple[Store, ...]:
        """The connected store nodes that it writes."""
        return tuple(each for each in self.stores if each.owner in (None, self))

    @property
    def read_tables(self) -> tuple[Operator, ...]:
        """The operators whose stores it reads, but does not write."""
        owners = [each.owner if isinstance(each, Store) else each for each in self.connected]
        return tuple(dict.fromkeys(each for each in owners if each and each is not self))

    @property
    def own_store_name(self) -> str:
        """The name of its store for processors that read it."""
        return self.store.store_name() if self.store else self.id

    @property
    def store(self) -> Store | None:
        """The store that an operator materializes into, if one is connected."""
        return self.stores[0] if self.stores else None

    @property
    def history(self) -> int | None:
        """The history retention of its connected store, in ms, if that is versioned."""
        return self.store.history if self.store else None

    @property
    def store_type(self) -> str:
        """The type of its implicit store, which it has if none is connected."""
        return "key_value"

    def store_json(self) -> dict[str, object] | None:
        """Its connected store as a parameter of its step; ``None`` for an implicit one."""
        return self.store.to_json() if self.store else None

    def keeps(self) -> Keeps:
        """The store of its step: the connected one, or the one named by its id."""
        if self.store:
            return Keeps((self.store.store_name(),))
        if self.unnamed_store == "always":
            return Keeps((self.id,))
        return Keeps(on_demand=self.unnamed_store == "on_demand")


class Store(Operator):
    """Base of the store nodes."""

    why = (
        "Spark's state stores are bound to the query plan and cannot be scanned in key order. "
        "These are stored under the store's name, so they survive changes of the topology."
    )

    def words(self) -> list[Call]:
        """The call, such as ``window_store("per-hour", retention="1 day")``, without the id."""
        keywords = self.changed("name")
        for name, value in keywords.items():
            if name in ("key_type", "value_type"):
                keywords[name] = self.raw(name)
            elif isinstance(value, tuple):
                keywords[name] = dict(value)
        return [Call(f"{self.type}_store", (self.store_name(),), tuple(keywords.items()))]

    #: The operator that keeps its result in the store, if any. Processors can only read it then.
    owner: Operator | None = None

    @property
    def history(self) -> int | None:
        """The history retention in ms; ``None``: only the latest version is kept."""
        found = self.values.get("history_retention")
        return found if isinstance(found, int) else None

    @property
    def type(self) -> str:
        """The kind without its family: ``key_value``, ``window``, ``session`` or ``versioned``."""
        return self.kind.removeprefix("store.")

    @property
    def row_type(self) -> DataType | None:
        """The type of a processor's values as they are stored; with headers, a struct."""
        value = self.values.get("value_type")
        if not isinstance(value, DataType):
            return None
        return with_headers(value, self.type) if self.values.get("headers") else value

    def store_name(self) -> str:
        """The name of the store in code and queries."""
        return str(self.values["name"])

    def to_json(self) -> dict[str, object]:
        """The JSON form that the stream task reads: kind, name, node and the properties set."""
        found: dict[str, object] = {"kind": self.type, "name": self.store_name(), "node": self.id}
        for name, parameter in self.parameters.items():
            value = self.values[name]
            if name == "name" or value is None or value == parameter.default:
                continue
            if isinstance(value, DataType):
                value = (self.row_type or value).text if name == "value_type" else value.text
            elif name == "logging_config":
                value = dict(value) if isinstance(value, tuple) else value
            found[name] = value
        return found


def no_questions(ports: Mapping[str, Port]) -> Inference:
    """An inference without questions."""
    yield []
    return ports


_registry: dict[str, type[Operator]] = {}


def registry() -> Mapping[str, type[Operator]]:
    """All kinds by name: every class with a ``kind`` below ``millrace_compiler.operators``."""
    if not _registry:
        package = importlib.import_module("millrace_compiler.operators")
        found: list[type[Operator]] = []
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if module.ispkg:
                continue
            values = vars(importlib.import_module(module.name)).values()
            classes = (value for value in values if inspect.isclass(value))
            found += [cls for cls in classes if issubclass(cls, Operator) and cls.kind]
        order = list(FAMILIES)
        unique = sorted(set(found), key=lambda c: (order.index(c.family), c.place, c.kind))
        _registry.update({cls.kind: cls for cls in unique})
    return _registry
