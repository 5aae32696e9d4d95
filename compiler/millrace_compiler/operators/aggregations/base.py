"""Base classes of aggregations: grouping, windows, stores and the final call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from millrace_compiler.declarations.calling import Calling
from millrace_compiler.declarations.calls import Call, call, window_words
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Ask, Inference, Operator, Scope
from millrace_compiler.declarations.ports import Columns, InPort, OutPort, Port, table_of
from millrace_compiler.declarations.steps import Handle, Partitions, Writes
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.operators.stores.fit import check_store, window_stores
from millrace_compiler.parameters.parameters import Choice, Expression, Name, optional
from millrace_compiler.parameters.parts import GroupBy, TypeOf
from millrace_compiler.parameters.summaries import Sentence
from millrace_compiler.parameters.windows import Window, WindowOf
from millrace_compiler.types.types import TIMESTAMP, DataType

GROUP_HELP = (
    "What records are grouped by. For a stream, the new key (default: the record's key). For a "
    "table, key and value; both are required."
)
REPARTITION_HELP = (
    "Name of the repartition topic without “-repartition”, as with Grouped.as. Default: the node's "
    "id."
)
WINDOW_HELP = (
    "Groups a stream by time as well: tumbling, hopping, sliding, session, unlimited or custom "
    "windows. "
    "Tumbling windows have a size, or are days, weeks, months, quarters or years of a time zone. "
    "Custom windows are those that a Python function returns for a timestamp. "
    "Without a window there is one result per key."
)


def aggregate_columns(
    agg: DataType | None, key: DataType | None, value: DataType | None
) -> Columns:
    """The columns of an aggregator."""
    return (("agg", agg), ("key", key), ("value", value), ("timestamp", TIMESTAMP))


class Windowed(Operator):
    """Base class of operators with an optional window, whose result is a table."""

    out_ports = (OutPort("out", "table"),)
    takes_store = ("store.key_value", "store.window", "store.session", "store.versioned")
    unnamed_store = "always"
    stateful = True
    names_result = True
    makes_records = True
    initializes = True

    window = optional(WindowOf("Window", WINDOW_HELP))

    @property
    def store_type(self) -> str:
        if self.window is None:
            return super().store_type
        return "session" if self.window.type == "session" else "window"

    def result(self, scope: Scope, key: Port, agg: DataType | None) -> Port:
        """The resulting table; reports a store that does not fit."""
        if self.window is None:
            out = Port("table", key.key, agg, False, key.window, key.inner_key, self.history)
        else:
            out = table_of(key.key, agg, self.window)
        check_store(scope, window_stores(self.window), out)
        return out


class Folding(Windowed, Calling):
    """Base class of operators that combine values into an aggregate of any type."""

    type = TypeOf("Type", "Spark SQL type of the aggregate.")
    initializer = Expression("Initializer", "The initial aggregate.", columns="none")
    merger = optional(
        Expression(
            "Merger",
            "For session windows: combines the aggregates `left` and `right`.",
            columns="merger",
        )
    )

    def check(self, report: Diagnostics) -> None:
        super().check(report)
        session = self.window is not None and self.window.type == "session"
        if session and self.node.params.get("merger") is None:
            self.fault(report, "merger_missing", "merger")
        elif not session and self.merger is not None:
            self.fault(report, "merger_unwanted", "merger")


class Aggregation(Windowed, Calling):
    """An aggregation of a stream, or of a table by another key."""

    in_ports = (InPort("in", ("stream", "table")),)
    #: Parameters that an aggregation of a table needs besides ``group_by``.
    for_tables: ClassVar[tuple[str, ...]] = ()

    group_by = optional(GroupBy("Group by", GROUP_HELP))
    repartition = optional(Name("Repartition topic", REPARTITION_HELP))
    emit = Choice(
        "Emit",
        "Emit every update, or one final result when the window closes.",
        ("every_update", "window_close"),
        default="every_update",
    )

    # ---- implemented by each aggregation ------------------------------------------------------

    def result_type(self, value: DataType | None) -> DataType | None:
        """The type of the aggregate, from the type of the values."""
        raise NotImplementedError

    def questions(self, scope: Scope, key: DataType | None, value: DataType | None) -> list[Ask]:
        """The questions about its expressions."""
        return []

    def arguments(self, *, table: bool) -> dict[str, object]:
        """Parameters of its step."""
        return {}

    # ---- answers --------------------------------------------------------------------------

    def check(self, report: Diagnostics) -> None:
        super().check(report)
        if self.emit == "window_close":
            if self.window is None and self.node.params.get("window") is None:
                self.fault(report, "needed_with", "window", **self.is_set("emit", "window_close"))
            elif self.window is not None and self.window.type == "unlimited":
                self.fault(report, "emit_unlimited", "emit")
            elif self.window is not None and self.window.code is not None:
                self.fault(report, "emit_custom", "emit")

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        if port.role == "table":
            return (yield from self._infer_table(scope, port))
        keyed = port
        if self.values.get("subtractor") is not None:
            scope.fault("only_for_tables", "subtractor")
        if self.group_by is not None:
            if self.group_by.value is not None:
                scope.fault("group_by_value", "group_by", ".value")
            [key] = yield [scope.ask("group_by", self.group_by.key, port.record(), None, ".key")]
            keyed = port.rekeyed(key, port.value)
        agg = self.result_type(port.value)
        yield self.questions(scope, keyed.key, port.value)
        return {"out": self.result(scope, keyed, agg)}

    def _infer_table(self, scope: Scope, port: Port) -> Inference:
        if self.window is not None:
            scope.fault("only_for_streams", "window")
        for parameter in self.for_tables:
            if self.node.params.get(parameter) is None:
                scope.fault("needed_for_tables", parameter)
        key = value = None
        if self.group_by is None:
            if self.node.params.get("group_by") is None:
                scope.fault("needed_for_tables", "group_by")
            yield []
        elif self.group_by.value is None:
            scope.fault("group_by_needs_value", "group_by", ".value")
            columns = port.record()
            [key] = yield [scope.ask("group_by", self.group_by.key, columns, None, ".key")]
        else:
            columns = port.record()
            key, value = yield [
                scope.ask("group_by", self.group_by.key, columns, None, ".key"),
                scope.ask("group_by", self.group_by.value, columns, None, ".value"),
            ]
        yield self.questions(scope, key, value)
        return {"out": self.result(scope, Port("table", key, value), self.result_type(value))}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        if to.input().role == "table":
            return {"out": self._lower_table(to)}
        stream = grouped(to, to.input(), self.group_by.key if self.group_by else None, self.id)
        handle = to.step(
            self.kind,
            stream,
            params=self.arguments(table=False),
            window=self.window.to_step() if self.window else None,
            emit=self.emit,
            store=self.store_json(),
            role="table",
            keeps=self.keeps(),
        )
        return {"out": handle}

    def _lower_table(self, to: NodeLowering) -> Handle:
        table = to.input()
        to.materialize(table)
        id_ = f"{self.id}-repartition"
        topic = to.graph.names.topic(id_)
        by = self.group_by
        writer = to.step(
            "group_by",
            table,
            id=id_,
            key=by.key if by else "",
            value=(by.value if by else None) or "",
            partitions=Partitions(topic),
            topic=to.other(topic, id_),
            role="grouped",
            writes=Writes(topic, repartition=True),
        )
        to.shuffled("in")
        rows = to.receive("grouped_table", id_, writer, role="grouped")
        return to.step(
            self.kind,
            rows,
            params=self.arguments(table=True),
            store=self.store_json(),
            role="table",
            keeps=self.keeps(),
        )

    def words(self) -> list[Call]:
        by = self.group_by
        topic = self.repartition
        if by is None:
            calls = [call("group_by_key", repartition=topic)]
        else:
            value = [by.value] if by.value else []
            calls = [call("group_by", by.key, *value, repartition=topic)]
        if self.window:
            emit = None if self.emit == "every_update" else self.emit
            calls.append(call("windowed_by", window_words(self.window), emit=emit))
        return [*calls, self.with_store(self.final_call())]

    def final_call(self) -> Call:
        """The last call in a program, whose result is the table."""
        return Call(self.kind)

    def described(self, form: str, **values: str) -> Sentence:
        """The sentence with window and grouping, such as "per 1 hour · counts by word"."""
        if self.group_by is None:
            return by_window(self.window, f"{form} by key", **values)
        return by_window(self.window, form + " by {key}", key=self.group_by.key, **values)


def by_window(window: Window | None, form: str, **values: str) -> Sentence:
    """The sentence with the window, if there is one, before what may be a long expression."""
    if window is None:
        return Sentence(form, **values)
    return Sentence("{window} · " + form, **values, window=window.sentence())


def grouped(
    to: NodeLowering, stream: Handle, key: str | None, name: str, port: str = "in"
) -> Handle:
    """A stream grouped by an expression or its key; repartitioned if the key has changed [RP1]."""
    if key is not None:
        id_ = f"{name}-key"
        stream = to.step("select_key", stream, changes="key", key=key, id=id_)
    return to.keyed(stream, name, through=port)
