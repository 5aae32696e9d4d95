"""The base class of operators.

A kind of the document is one subclass of :class:`Operator` in ``operators/<family>/<kind>.py``;
an instance is one node with its parameters. The class declares ports, parameters and traits; the
instance implements :meth:`~Operator.check` (are the parameters valid together),
:meth:`~Operator.infer` (types of its outputs), :meth:`~Operator.lower` (steps of the job),
:meth:`~Operator.summary` (one sentence). Palette, forms, catalog, pages, validation and lowering
follow from these classes; nothing else in the project lists operators.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from millrace_compiler.diagnostics import Diagnostic, Diagnostics
from millrace_compiler.document import Node
from millrace_compiler.guesses import guess
from millrace_compiler.lowering import NodeLowering
from millrace_compiler.parameters import MISSING, Duration, Faults, Parameter
from millrace_compiler.ports import Columns, InPort, OutPort, Port
from millrace_compiler.program.words import Call, duration
from millrace_compiler.steps import Handle, Keeps
from millrace_compiler.types import DataType

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


@dataclass(frozen=True)
class Buffer:
    """Rows that an operator keeps in a form of its own: the key of one input, values of inputs.

    ``values`` are input ports by the names of the values.
    """

    kind: str
    keyed: str
    values: Mapping[str, str]


class Scope:
    """What a node sees while types are inferred: its inputs, its stores, a place for faults."""

    def __init__(
        self, operator: Operator, inputs: Mapping[str, list[Port]], report: Diagnostics
    ) -> None:
        self.operator, self.inputs, self.report = operator, inputs, report

    def one(self, port: str = "in") -> Port:
        """The one input at a port."""
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
    ) -> Ask:
        """A question for the analyzer; errors go to the parameter."""
        return Ask(parameter, text, columns, expects, f"{parameter}{path}" if path else None)

    def fault(self, code: str, parameter: str, path: str | None = None, **data: object) -> None:
        """Reports a fault of this node."""
        self.operator.fault(self.report, code, parameter, path, **data)


Inference = Generator[list[Ask], list[DataType | None], Mapping[str, Port]]


class Operator:
    """Base of all operators. See the module's text."""

    kind: ClassVar[str] = ""
    title: ClassVar[str]
    icon: ClassVar[str]
    help: ClassVar[str]
    synonyms: ClassVar[tuple[str, ...]] = ()
    #: What it guarantees, with the rule of Kafka Streams, and why it is not Spark's own operation.
    guarantee: ClassVar[str]
    why: ClassVar[str] = (
        "The stream task processes records one by one, depth first, so order, timestamps and "
        "errors are those of each record. DataFrame operations do not keep them."
    )
    rules: ClassVar[tuple[str, ...]] = ()
    in_ports: ClassVar[tuple[InPort, ...]] = ()
    out_ports: ClassVar[tuple[OutPort, ...]] = ()
    #: Place in the palette within the family, lowest first.
    place: ClassVar[int] = 50
    #: Parameters that stand first in the form.
    first: ClassVar[tuple[str, ...]] = ()
    dynamic_inputs: ClassVar[str | None] = None
    dynamic_outputs: ClassVar[str | None] = None
    takes_store: ClassVar[tuple[str, ...]] = ()
    many_stores: ClassVar[bool] = False
    stateful: ClassVar[bool] = False
    changes_key: ClassVar[bool] = False
    reads_clock: ClassVar[bool] = False
    #: Input ports whose records lead to results, and not only to rows; None: all of them.
    driving_ports: ClassVar[tuple[str, ...] | None] = None
    #: A left or outer join of this kind keeps records with a null key, so nodes before it do.
    keeps_null_keys: ClassVar[bool] = False
    #: Each of its input records leads to one of its own.
    forwards_all: ClassVar[bool] = False
    #: Its results are new records, with the metadata of none of its inputs.
    makes_records: ClassVar[bool] = False
    #: Its rows start with the value of an initializer, not with the first record's.
    initializes: ClassVar[bool] = False
    #: Runs the user's own Python.
    runs_python: ClassVar[bool] = False
    #: The parameters that name topics outside, which it reads or writes.
    topic_parameters: ClassVar[tuple[str, ...]] = ()
    #: Its example shows timestamps, as for one that reads a clock.
    has_timestamps: ClassVar[bool] = False
    #: In a program, what comes of it has a variable of its own.
    names_result: ClassVar[bool] = False
    #: It belongs to the table before it, whose variable it then is.
    continues_table: ClassVar[bool] = False
    #: Its call returns its output ports by their names.
    returns_ports: ClassVar[bool] = False
    #: What it keeps beside stores, if it does.
    buffer: ClassVar[Buffer | None] = None
    #: Parameters that stand without their name in the program's call.
    positional: ClassVar[tuple[str, ...]] = ()

    family: ClassVar[str]
    parameters: ClassVar[dict[str, Parameter[object]]] = {}

    def __init_subclass__(cls) -> None:
        found: dict[str, Parameter[object]] = {}
        for base in reversed(cls.__mro__):
            for value in vars(base).values():
                if isinstance(value, Parameter):
                    found[value.name] = value
        cls.parameters = {name: found[name] for name in dict.fromkeys((*cls.first, *found))}
        if cls.kind:
            cls.family = cls.__module__.split(".")[-2]

    def __init__(self, node: Node, report: Diagnostics) -> None:
        self.id, self.node = node.id, node
        self.stores: tuple[Store, ...] = ()
        #: How many edges come in at each port.
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
        """Whether the parameters are sound together; types are not known yet."""

    def inputs(self) -> tuple[InPort, ...]:
        """The input ports of this node."""
        return self.in_ports

    def outputs(self) -> tuple[str, ...]:
        """The names of the output ports of this node."""
        return tuple(port.name for port in self.out_ports)

    def infer(self, scope: Scope) -> Inference:
        """Types of the outputs. Yields lists of questions, is sent lists of types."""
        raise NotImplementedError

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        """Adds this node's steps to the job; gives what its output ports carry."""
        raise NotImplementedError

    def words(self) -> list[Call]:
        """The calls that express it in a program: methods of its first input, or of the topology.

        The last one adds the node; the writer gives it ``name``.
        """
        words = self.changed()
        args = [words.pop(name) for name in self.positional if name in words]
        return [
            self.with_store(Call(self.kind.rpartition(".")[2], tuple(args), tuple(words.items())))
        ]

    def changed(self, *skipped: str) -> dict[str, object]:
        """The parameters that differ from their defaults, as a program has them."""
        found: dict[str, object] = {}
        for name, parameter in self.parameters.items():
            value = self.values[name]
            if name in skipped or value is None or value == parameter.default:
                continue
            found[name] = duration(value) if isinstance(parameter, Duration) else value  # type: ignore[arg-type]
        return found

    def raw(self, name: str) -> object:
        """A parameter as the document has it, such as the text of a type."""
        return self.node.params.get(name)

    def with_store(self, made: Call) -> Call:
        """The call with the store that the operator materializes into, if there is one."""
        if not self.takes_store or not self.stores:
            return made
        return Call(made.function, made.args, (*made.keywords, ("store", self.stores[0])))

    def summary(self) -> str:
        """One sentence from the parameters, without the final stop."""
        return self.title.lower()

    @property
    def evaluates(self) -> bool:
        """Whether it computes expressions, or runs Python, for each record."""
        expressions = (parameter.expression() for parameter in self.parameters.values())
        return self.runs_python or any(each is not None for each in expressions)

    def drives(self, port: str) -> bool:
        """Whether the records of an input port lead to results, and not only to rows."""
        return self.driving_ports is None or port in self.driving_ports

    @property
    def store(self) -> Store | None:
        """The store that an operator materializes into, if one is connected."""
        return self.stores[0] if self.stores else None

    @property
    def history(self) -> int | None:
        """How far back the store that it materializes into keeps versions, in ms, if it does."""
        return self.store.history if self.store else None

    @property
    def store_type(self) -> str:
        """The type of the store that it has where none is connected."""
        return "key_value"

    def store_json(self) -> dict[str, object] | None:
        """Its store as a parameter of its step; ``None``: an own one without a name."""
        return self.store.to_json() if self.store else None

    def keeps(self, unnamed: Literal["always", "on_demand", "never"]) -> Keeps:
        """Its store as its step keeps it; an ``unnamed`` one has the node's id as its name."""
        if self.store:
            return Keeps((self.store.store_name(),))
        if unnamed == "always":
            return Keeps((self.id,))
        return Keeps(on_demand=unnamed == "on_demand")


class Store(Operator):
    """Base of the store nodes."""

    why = (
        "Spark's state stores are bound to the query plan and cannot be scanned in key order. "
        "These are stored under the store's name, so they survive changes of the topology."
    )

    def words(self) -> list[Call]:
        """``window_store("per-hour", retention="1 day")``; without its id."""
        keywords = self.changed("name")
        for name, value in keywords.items():
            if name in ("key_type", "value_type"):
                keywords[name] = self.raw(name)
            elif isinstance(value, tuple):
                keywords[name] = dict(value)
        return [Call(f"{self.type}_store", (self.store_name(),), tuple(keywords.items()))]

    @property
    def history(self) -> int | None:
        """How far back it keeps versions, in ms; ``None``: only the latest."""
        found = self.values.get("history_retention")
        return found if isinstance(found, int) else None

    @property
    def type(self) -> str:
        """The kind without its family: ``key_value``, ``window``, ``session`` or ``versioned``."""
        return self.kind.removeprefix("store.")

    def store_name(self) -> str:
        """The name by which code and queries know it."""
        return str(self.values["name"])

    def to_json(self) -> dict[str, object]:
        """As the stream task takes it: kind, name, node and the properties that are set."""
        found: dict[str, object] = {"kind": self.type, "name": self.store_name(), "node": self.id}
        for name, parameter in self.parameters.items():
            value = self.values[name]
            if name == "name" or value is None or value == parameter.default:
                continue
            if isinstance(value, DataType):
                value = value.text
            elif name == "logging_config":
                value = dict(value) if isinstance(value, tuple) else value
            found[name] = value
        return found


def no_questions(ports: Mapping[str, Port]) -> Inference:
    """Inference that asks nothing."""
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
