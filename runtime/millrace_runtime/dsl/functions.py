"""Python functions and Columns of Spark as arguments of a topology's methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from millrace_compiler import ExpressionRequest
from millrace_compiler.declarations.functions import (
    Binding,
    bound,
    class_code,
    class_name_of,
)
from millrace_compiler.declarations.ports import METADATA, Port
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.documents.document import FORMAT, read_document
from millrace_compiler.graphs.expansion import Expansion
from millrace_compiler.graphs.fragment_ports import alone
from millrace_compiler.graphs.fragments import expand, filled
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.inference.infer import infer_ports
from millrace_compiler.program.classes import bound_names
from millrace_compiler.types.types import DataType, NoType, parse_type
from millrace_model.documents import (
    FRAGMENT,
    INPUT,
    DocumentEdge,
    DocumentNode,
    DocumentParameter,
    FragmentDefinition,
    TopologyDocument,
)

from millrace_runtime.code.code import ProcessorCode, packed
from millrace_runtime.code.places import calling
from millrace_runtime.dsl.definitions import branching, definition_of
from millrace_runtime.errors import ProgramError
from millrace_runtime.functions import returned
from millrace_runtime.functions.given_types import SqlType, sql_type
from millrace_runtime.functions.known_types import KnownTypes
from millrace_runtime.functions.references import called_by_name
from millrace_runtime.functions.source import (
    NoSource,
    Source,
    plain_function,
    source_of,
)
from millrace_runtime.functions.spark_columns import NoText, column_text, is_column
from millrace_runtime.functions.terms import NotTranslated, UnknownField
from millrace_runtime.functions.translate import Column, translated

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn

#: A Spark SQL expression: its text, a Python function, or a Column of Spark.
Expression: TypeAlias = "str | Callable[..., Any] | SparkColumn"
#: The columns of an expression with their types, and whether they may be None.
Columns = Mapping[str, Column]


@dataclass(frozen=True)
class Site:
    """The parameter of a node that a function is an argument of.

    `binding`: what the parameters of a function stand for. `expects`: the type that is needed;
    `CONDITION`: any, of which only the truth counts. `element`, `pairs`: see `translated`.
    """

    method: str
    parameter: str
    columns: Columns
    binding: Binding
    expects: DataType | None = None
    element: int | None = None
    pairs: bool = False


@dataclass(frozen=True)
class Runs:
    """A function that is not translated, because of `reason`."""

    source: Source
    columns: tuple[str, ...]
    reason: str


class Definition(Protocol):
    """The definition of a fragment."""

    def documented(self, *, labels: bool) -> FragmentDefinition:
        """Return the definition in a document."""


class Nodes(Protocol):
    """The nodes and edges of a topology so far."""

    nodes: list[DocumentNode]
    edges: list[DocumentEdge]
    parameters: dict[str, DocumentParameter]

    @property
    def fragments(self) -> Mapping[str, Definition]:
        """The definitions of fragments, by name and version."""

    def free_id(self, base: str) -> str:
        """The id that a node of this name gets by default."""


class End(Protocol):
    """An output port of a node."""

    @property
    def node(self) -> str:
        """The id of the node."""

    @property
    def port(self) -> str:
        """The name of the port."""


class Functions:
    """The functions of a topology: their columns, texts and code."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._types = KnownTypes()
        self._ports: tuple[int, Mapping[tuple[str, str], Port]] = (-1, {})

    def port(self, end: End) -> Port:
        """The role and types of an output port, as far as they are known without Spark."""
        count = len(self._nodes.nodes)
        if self._ports[0] != count:
            self._ports = (count, self._inferred(self._nodes.nodes, self._nodes.edges))
        return self._ports[1].get((end.node, end.port)) or Port("stream", None, None)

    def source(self, params: Mapping[str, object]) -> Columns:
        """The columns of a source's records."""
        given = {name: each for name, each in params.items() if name in ("key", "value")}
        node: DocumentNode = {"id": "a", "kind": "source.table", "params": {"topic": "a", **given}}
        port = self._inferred([node], []).get(("a", "out")) or Port("stream", None, None)
        return record(port)

    def type_of(self, sql: Any, port: Port) -> DataType | None:
        """The type of an expression over a record, if it is known without Spark."""
        if not isinstance(sql, str):
            return None
        columns = tuple((name, each.text) for name, each in port.record() if each is not None)
        [found] = self._types.analyze([ExpressionRequest(sql, columns)])
        return None if found.type is None else parse_type(found.type)

    def _inferred(self, nodes: list[Any], edges: list[Any]) -> Mapping[tuple[str, str], Port]:
        report = Diagnostics()
        raw: TopologyDocument = {
            "format": FORMAT, "name": "functions", "nodes": nodes, "edges": edges,
        }  # fmt: skip
        if self._nodes.parameters:
            raw = filled({**raw, "parameters": self._nodes.parameters})
        outputs: Mapping[tuple[str, str], tuple[str, str]] = {}
        if any(each["kind"].startswith(FRAGMENT) for each in raw["nodes"]):
            expansion = self._expanded(raw, report)
            raw, outputs = cast(TopologyDocument, expansion.document), expansion.outputs
        found = infer_ports(Graph(read_document(raw, report), report), self._types, report)
        return {**found, **{end: found[at] for end, at in outputs.items() if at in found}}

    def _expanded(self, raw: TopologyDocument, report: Diagnostics) -> Expansion:
        """The nodes with the contents of fragments; ports without a type have an unknown one."""
        definitions = {
            name: each.documented(labels=False) for name, each in self._nodes.fragments.items()
        }
        nodes = [alone(each, report) for each in raw["nodes"]]
        for node, before in zip(nodes, raw["nodes"], strict=True):
            if before["kind"] == INPUT:
                unknown = {"key", "value"} - set(before["params"])
                node["params"] |= {name: {"format": "json"} for name in unknown}
        return expand({**raw, "nodes": nodes, "fragments": definitions}, report)

    def text_or_runs(self, given: Any, site: Site, node: str | None = None) -> Any:
        """The text of an expression, or the function that has to run in Python."""
        if isinstance(given, str) or given is None:
            return given
        if is_column(given):
            return self._column(given, site, node)
        if not callable(given):
            return given
        source, columns = self.read(given, site, node)
        if site.method == "peek":
            return Runs(source, columns, "it acts")
        seen = {
            name: site.columns.get(of, Column(of, None))
            for name, of in zip(source.parameters, columns, strict=True)
        }
        try:
            made = translated(
                source, seen, expects=site.expects, element=site.element, pairs=site.pairs
            )
        except UnknownField as error:
            message = f"{shown(source)}: {error}."
            raise self.error(site, node, message) from None
        except NotTranslated as error:
            return Runs(source, columns, str(error))
        self.note(made.sql, site, made.type)
        return made.sql

    def _column(self, given: Any, site: Site, node: str | None) -> str:
        """The text of a Column of Spark."""
        try:
            return column_text(given)
        except NoText as error:
            message = f"This Column of Spark has no text, because of {error}. Write it as text."
            raise self.error(site, node, message) from None

    def read(self, given: Any, site: Site, node: str | None) -> tuple[Source, tuple[str, ...]]:
        """The source of a function, and the columns that its parameters stand for."""
        try:
            if isinstance(given, FunctionType):
                source = source_of(given)
            else:
                source = called_by_name(given, site.binding, calling())
            plain_function(source)
        except NoSource as error:
            raise self.error(site, node, f"{_name(given)} cannot be read: {error}.") from None
        columns = bound(source.parameters, site.binding)
        if columns is None:
            listed = ", ".join(source.parameters)
            raise self.error(
                site, node, f"A function of {site.binding} is needed, not of ({listed})."
            )
        return source, columns

    def error(self, site: Site, node: str | None, message: str) -> ProgramError:
        """The error of an argument, with its place in the program."""
        id_ = node or self._nodes.free_id(site.method.replace("_", "-"))
        place = calling()
        return ProgramError(
            "program_function", f"{place}, {id_}.{site.parameter}: {message}", node=id_,
            parameter=site.parameter,
        )  # fmt: skip

    # ---- functions that run in Python ------------------------------------------------------------

    def code(self, runs: Runs, site: Site, node: str | None) -> ProcessorCode:
        """The code of the processor that calls a function. Raises ProgramError."""
        id_ = node or self._nodes.free_id(site.method.replace("_", "-"))
        try:
            return self._code(runs, site, id_)
        except NoSource as error:
            message = (
                f"{shown(runs.source)} cannot be an expression, because {runs.reason}; and "
                f"it cannot run in Python, because {error}."
            )
            raise self.error(site, node, message) from None

    def branching(
        self, branches: Mapping[str, Expression], sites: Mapping[str, Site], default: str | None,
        node: str,
    ) -> ProcessorCode:  # fmt: skip
        """The code of the processor that calls the functions of branches. Raises ProgramError."""
        found = {}
        for port, given in branches.items():
            if isinstance(given, str) or is_column(given):
                message = "Other branches run in Python: write this one as a function as well."
                raise self.error(sites[port], node, message)
            found[port] = self.read(given, sites[port], node)
        try:
            found = self._in_one_file(found, branches, sites)
            name, text, lines = branching(found, default, node)
        except NoSource as error:
            message = f"The functions of the branches cannot run in Python, because {error}."
            raise self.error(next(iter(sites.values())), node, message) from None
        source = next(iter(found.values()))[0]
        return packed(text, name, source.file, lines, calling())

    def _in_one_file(
        self,
        found: dict[str, tuple[Source, tuple[str, ...]]],
        given: Mapping[str, Expression],
        sites: Mapping[str, Site],
    ) -> dict[str, tuple[Source, tuple[str, ...]]]:
        """The functions of branches; if they are in several files, those of others by name."""
        place = calling()
        if len({source.file for source, _ in found.values()}) < 2:
            return found
        return {
            port: (source, columns)
            if source.file == place.file
            else (
                called_by_name(cast(Callable[..., Any], given[port]), sites[port].binding, place),
                columns,
            )
            for port, (source, columns) in found.items()
        }

    def _code(self, runs: Runs, site: Site, node: str) -> ProcessorCode:
        try:
            return _code(runs, site.method, node)
        except NoSource as error:
            if runs.source.called:
                raise
            try:  # a decorated function is called by its name
                function = runs.source.function
                named = called_by_name(function, site.binding, calling())
            except NoSource:
                raise error from None
            return _code(replace(runs, source=named), site.method, node)

    def note(self, sql: str, site: Site, type_: DataType) -> None:
        """Remember the type of a call of a function in an expression."""
        known = {each.name: each.type for each in site.columns.values() if each.type is not None}
        self._types.note(sql, known, type_)

    def sampled(self, runs: Runs, site: Site) -> DataType | None:
        """The type of what a function returns for samples of its inputs, if it is clear."""
        return returned.sampled(runs.source.function, _types(runs, site)).type

    def returns(
        self,
        runs: Runs,
        site: Site,
        node: str | None,
        given: SqlType | None,
        *,
        pairs: bool = False,
    ) -> DataType:
        """The type of what a function returns: given, annotated, or that of samples."""
        if given is not None:
            try:
                return parse_type(sql_type(given, "returns="))
            except NoType as error:
                raise self.error(site, node, f"returns={given!r} is not a type: {error}.") from None
        pairs = pairs or site.pairs or site.method == "map"
        function = runs.source.function
        found = returned.annotated(function, pairs=pairs)
        if found is not None:
            return found
        samples = returned.sampled(function, _types(runs, site), pairs=pairs)
        if samples.type is not None:
            return samples.type
        raise self.error(
            site,
            node,
            f"{shown(runs.source)} runs in Python, because {runs.reason}. The type of what it "
            f"returns is not clear, because {samples.reason}. Annotate what it returns, or give "
            'the Spark SQL type with returns="...".',
        )


def _types(runs: Runs, site: Site) -> list[DataType | None]:
    """The types of a function's arguments, as far as they are known."""
    return [site.columns.get(name, Column(name, None)).type for name in runs.columns]


def record(port: Port, *, present: bool = False) -> dict[str, Column]:
    """The columns of a record. `present`: its value is never null, as in an update of a table."""
    found = {
        "key": Column("key", port.key, none=port.role == "stream"),
        "value": Column("value", port.value, none=not present),
    }
    for name, type_ in METADATA:
        if name != "headers":
            found[name] = Column(name, type_, none=name == "topic")
    return found


def typed(
    site: Site, returns: SqlType | None, given: Any, functions: Functions, node: str | None
) -> Site:
    """The site, with the type that a function returns, if it is given."""
    if returns is None:
        return site
    if isinstance(given, str):
        raise TypeError("returns= is the type of a function; an expression has its own")
    try:
        return replace(site, expects=parse_type(sql_type(returns, "returns=")))
    except NoType as error:
        raise functions.error(site, node, f"returns={returns!r} is not a type: {error}.") from None


def joined(columns: tuple[str, ...]) -> str:
    """The joiner that keeps what a function of both sides needs, which then runs in Python."""
    return f"named_struct({', '.join(f'{each!r}, {each}' for each in columns)})"


def output_of(method: str, type_: DataType) -> dict[str, str] | None:
    """The types of key and value, from the type of what a function returns; None if unfit."""
    if method in ("map_values", "joiner"):
        return {"value": type_.text}
    if method == "select_key":
        return {"key": type_.text}
    inner = type_ if method == "map" else type_.inner[0] if type_.name == "ARRAY" else None
    if inner is None:
        return None
    if method == "flat_map_values":
        return {"value": inner.text}
    if inner.name == "STRUCT" and len(inner.inner) == 2:
        return {"key": inner.inner[0].text, "value": inner.inner[1].text}
    return None


def needed(method: str) -> str:
    """What a function of `output_of` has to return, in a message."""
    pair = "STRUCT<key, value>"
    return {"map": f"a {pair}", "flat_map": f"an ARRAY<{pair}>"}.get(method, "an ARRAY")


def shown(source: Source) -> str:
    """A function in a message: its name and line."""
    name = source.called[0] if source.called else source.name or "The lambda"
    return f"{name} ({Path(source.file).name}, line {source.line})"


def _name(given: Any) -> str:
    return str(getattr(given, "__qualname__", type(given).__name__))


def _code(runs: Runs, method: str, node: str) -> ProcessorCode:
    """The code of a function with what it uses, and of the class that calls it."""
    found = definition_of(runs.source, node.replace("-", "_"))
    class_name = class_name_of(found.name, sorted(bound_names(found.text)))
    made = class_code(method, found.name, runs.columns, class_name)
    whole = f"{found.text.rstrip()}\n\n\n{made}"
    return packed(whole, class_name, runs.source.file, f"{found.lines}\n\n{made}", calling())
