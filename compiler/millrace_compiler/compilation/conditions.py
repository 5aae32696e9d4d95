"""Conditions of a test: predicates over the records of a topic or the rows of a store.

A condition is ``{"topic" or "store", "predicate", "records"}``. The predicate is Spark SQL over
``key``, ``value``, ``timestamp`` and, for a topic, ``headers``; null counts as false. ``records``
states how many records must satisfy it: ``every`` (all, and at least one; the default), ``any``
(at least one), or an exact number. This module checks conditions against a document and builds a
topology that evaluates them with filters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from millrace_model.documents import DocumentEdge, DocumentNode, TopologyDocument
from millrace_model.plans import ConditionJson

from millrace_compiler.compilation.compilation import Compilation
from millrace_compiler.declarations.operator import Operator, Store
from millrace_compiler.declarations.ports import Columns
from millrace_compiler.diagnostics.diagnostics import Diagnostic, Diagnostics
from millrace_compiler.inference.analysis import Analyzer, AnalyzerUnavailable, ExpressionRequest
from millrace_compiler.inference.expression_faults import certain, fault_of
from millrace_compiler.operators.processors.base import ProcessorNode
from millrace_compiler.operators.sinks.topic import SinkTopic
from millrace_compiler.types.types import (
    BINARY,
    BOOLEAN,
    HEADERS,
    STRING,
    TIMESTAMP,
    DataType,
    windowed,
)

EVERY, ANY = "every", "any"
#: maximum number of conditions of one test
MOST = 50
_FIELDS = ("topic", "store", "predicate", "records")

Types = tuple[DataType | None, DataType | None]


@dataclass(frozen=True)
class Condition:
    """One condition; exactly one of ``topic`` and ``store`` is set."""

    predicate: str
    topic: str | None = None
    store: str | None = None
    records: str | int = EVERY

    @property
    def place(self) -> str:
        """Which of the two is set: ``topic`` or ``store``."""
        return "store" if self.topic is None else "topic"


def read_conditions(raw: object) -> list[Condition]:
    """Reads the conditions of a test file; None is an empty list. Raises ValueError."""
    if raw is None:
        return []
    if not isinstance(raw, list) or len(raw) > MOST:
        raise ValueError(f"conditions must be a list of at most {MOST} conditions")
    return [_read(each, f"conditions[{number}]") for number, each in enumerate(raw)]


def _read(raw: object, place: str) -> Condition:
    if not isinstance(raw, Mapping):
        raise ValueError(f"{place} must be an object")
    unknown = [name for name in raw if name not in _FIELDS]
    if unknown:
        raise ValueError(f"{place} has no field {unknown[0]}; fields are {', '.join(_FIELDS)}")
    named = [name for name in ("topic", "store") if raw.get(name) is not None]
    if len(named) != 1 or not isinstance(raw[named[0]], str):
        raise ValueError(f"{place} needs the name of either a topic or a store")
    predicate, records = raw.get("predicate"), raw.get("records", EVERY)
    if not isinstance(predicate, str) or not predicate.strip():
        raise ValueError(f"{place} needs a predicate: a Spark SQL expression")
    whole = isinstance(records, int) and not isinstance(records, bool) and records >= 0
    if not whole and records not in (EVERY, ANY):
        raise ValueError(f"{place}.records must be every, any or a number, found {records!r}")
    return Condition(predicate, raw.get("topic"), raw.get("store"), records)


class Checked:
    """Conditions that are checked against a document: their columns and diagnostics.

    Paths of ``diagnostics`` have the form ``conditions[0].predicate``.
    """

    def __init__(
        self, compilation: Compilation, conditions: Sequence[Condition], analyzer: Analyzer
    ) -> None:
        self.conditions = conditions
        self._report = Diagnostics()
        seen = _Seen(compilation)
        self.columns = [self._columns(seen, n, each) for n, each in enumerate(conditions)]
        self._check(analyzer)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Faults of the conditions, in their order."""
        return list(self._report)

    def to_json(self) -> list[ConditionJson]:
        """The diagnostics of each condition, and the types of its predicate's columns."""
        found: list[ConditionJson] = []
        for number, columns in enumerate(self.columns):
            mine = f"conditions[{number}]."
            types = {name: type_.text if type_ else "?" for name, type_ in columns or ()}
            own = [d.to_json() for d in self.diagnostics if (d.path or "").startswith(mine)]
            found.append({"columns": types, "diagnostics": own})
        return found

    def topology(self) -> TopologyDocument:
        """The document that evaluates the conditions, which must have no diagnostics.

        Condition n reads topic ``n`` as JSON, and writes the records that satisfy it to ``met-n``.
        """
        nodes: list[DocumentNode] = []
        edges: list[DocumentEdge] = []
        for number, (condition, columns) in enumerate(
            zip(self.conditions, self.columns, strict=True)
        ):
            types = dict(columns or ())
            formats = {
                part: {"format": "json", "schema": _readable(types.get(part)).schema}
                for part in ("key", "value")
            }
            source, where, out = f"rows-{number}", f"where-{number}", f"out-{number}"
            reads, writes = {"topics": [str(number)], **formats}, {"topic": f"met-{number}"}
            nodes += [
                {"id": source, "kind": "source.stream", "params": reads},
                {"id": where, "kind": "filter", "params": {"predicate": condition.predicate}},
                {"id": out, "kind": "sink.topic", "params": writes},
            ]
            edges += [{"source": source, "target": where}, {"source": where, "target": out}]
        return {
            "format": "millrace.topology/1",
            "name": "conditions",
            # A record for which the predicate raises does not satisfy it.
            "settings": {"processing_handler": "continue"},
            "nodes": nodes,
            "edges": edges,
        }

    def _columns(self, seen: _Seen, number: int, condition: Condition) -> Columns | None:
        name = condition.topic if condition.store is None else condition.store
        found = list(seen.topic(name) if condition.store is None else seen.store(name))
        if not found:
            known = seen.topics if condition.store is None else seen.stores
            code = "condition_topic" if condition.store is None else "condition_store"
            listed = ", ".join(sorted(known)) or "none"
            self._fault(number, condition.place, code, found=name, known=listed)
            return None
        first = found[0]
        other = next((each for each in found if _texts(each) != _texts(first)), None)
        if other is not None:
            types = {"first": _shown(first), "second": _shown(other)}
            self._fault(number, condition.place, "condition_types", found=name, **types)
            return None
        return first

    def _check(self, analyzer: Analyzer) -> None:
        asked = []
        for number, (condition, columns) in enumerate(
            zip(self.conditions, self.columns, strict=True)
        ):
            if columns is None:
                continue
            if not condition.predicate.strip():
                self._fault(number, "predicate", "expression_empty")
                continue
            known = tuple((name, type_.text) for name, type_ in columns if type_ is not None)
            request = ExpressionRequest(condition.predicate, known, BOOLEAN.text)
            asked.append((number, condition, columns, request))
        try:
            results = analyzer.analyze([each[-1] for each in asked]) if asked else []
        except AnalyzerUnavailable as error:
            self._fault(asked[0][0], "predicate", "analyzer", reason=str(error))
            return
        for (number, condition, columns, _), result in zip(asked, results, strict=True):
            whole = all(type_ is not None for _, type_ in columns)
            if result.error is not None and (whole or certain(result.error)):
                fault = fault_of(condition.predicate, columns, result.error)
                path = f"conditions[{number}].predicate"
                self._report.put(
                    Diagnostic(fault.code, None, "conditions", path, fault.position, fault.data)
                )

    def _fault(self, number: int, part: str, code: str, **data: object) -> None:
        path = f"conditions[{number}].{part}"
        self._report.put(Diagnostic(code, None, "conditions", path, data=data))


class _Seen:
    """The columns of the topics and stores of a compiled document."""

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation
        operators = compilation.graph.operators.values()
        self._sinks = [each for each in operators if isinstance(each, SinkTopic)]
        self._stores = [each for each in operators if isinstance(each, Store)]
        self._dead = compilation.document.settings.get("dead_letter_topic")
        self.topics = {each.topic for each in self._sinks if each.topic}
        if isinstance(self._dead, str):
            self.topics.add(self._dead)
        self.stores = {each.store_name() for each in self._stores}

    def topic(self, name: str | None) -> Iterator[Columns]:
        """The columns of a topic, once for each sink that may write it."""
        for sink in self._sinks:
            if sink.topic_expression or sink.topic == name:
                for edge in self._compilation.graph.inputs[sink.id]["in"]:
                    port = self._compilation.ports.get((edge.source, edge.source_port))
                    types = (None, None) if port is None else (port.key, port.value)
                    yield _columns(types, headers=True)
        if name == self._dead:
            yield _columns((BINARY, BINARY), headers=True)

    def store(self, name: str | None) -> Iterator[Columns]:
        """The columns of the store node of that name, with the types of its first user."""
        store = next((each for each in self._stores if each.store_name() == name), None)
        if store is None:
            return
        users = self._compilation.graph.operators.values()
        user = next((each for each in users if store in each.own_stores), None)
        if isinstance(user, ProcessorNode):
            key = store.values.get("key_type")
            key = key if isinstance(key, DataType) else None
            if key is not None and store.type in ("window", "session"):
                key = windowed(key)
            types = (key, store.row_type)
            yield _columns(types, timed=store.type == "versioned")
        else:
            yield _columns(self._result(user), timed=store.type != "session")

    def _result(self, user: Operator | None) -> Types:
        out = None if user is None else self._compilation.ports.get((user.id, "out"))
        return (None, None) if out is None else (out.key, out.value)


def _columns(types: Types, *, timed: bool = True, headers: bool = False) -> Columns:
    found: list[tuple[str, DataType | None]] = [("key", types[0]), ("value", types[1])]
    if timed:
        found.append(("timestamp", TIMESTAMP))
    if headers:
        found.append(("headers", HEADERS))
    return tuple(found)


def _texts(columns: Columns) -> list[str]:
    return [type_.text if type_ else "?" for _, type_ in columns]


def _shown(columns: Columns) -> str:
    return " and ".join(_texts(columns)[:2])


def _readable(type_: DataType | None) -> DataType:
    """The type as which JSON is read: a null, or an unknown type, is read as a string."""
    return STRING if type_ is None or type_.name == "VOID" else type_
