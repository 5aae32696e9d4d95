"""Streams and tables, and their operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias, Unpack

from millrace_compiler.declarations.functions import JOINER, MAPPED_JOINER, PAIR
from millrace_compiler.types.types import DataType

from millrace_runtime.dsl.arguments import require
from millrace_runtime.dsl.called import Called
from millrace_runtime.dsl.functions import Columns, Expression, Runs, Site, joined, record, typed
from millrace_runtime.dsl.grouped import Cogroups, StreamGroups, TableGroups
from millrace_runtime.dsl.handles import Handle
from millrace_runtime.dsl.nodes import About, Nodes
from millrace_runtime.dsl.records import GlobalTable, Records
from millrace_runtime.dsl.stores import Duration, Store, in_milliseconds
from millrace_runtime.dsl.windows import JoinWindow, Suppressed
from millrace_runtime.functions.given_types import SqlType
from millrace_runtime.functions.translate import CONDITION, Column

#: What happens to records that a filter does not keep.
Rejected: TypeAlias = Literal["drop", "drop_and_count", "count", "warn", "dead_letter", "stop"]


class Stream(Records["Stream", "Table"]):
    """A KStream: each record is an independent event."""

    def _stream(self, node: str, port: str = "out") -> Stream:
        return Stream(self._nodes, node, port)

    def filter(
        self, predicate: Expression, *, rejected: Rejected = "drop", **about: Unpack[About]
    ) -> Stream:
        """Keep records for which the predicate is true; null counts as false.

        `rejected`: what happens to the others, which makes the filter a rule on live data.
        """
        return self._filtered("filter", predicate, rejected, about)

    def filter_not(
        self, predicate: Expression, *, rejected: Rejected = "drop", **about: Unpack[About]
    ) -> Stream:
        """Drop records for which the predicate is true; `rejected`: as for `filter`."""
        return self._filtered("filter_not", predicate, rejected, about)

    def _filtered(
        self, method: str, predicate: Expression, rejected: Rejected, about: About
    ) -> Stream:
        if rejected == "drop":
            return self._stateless(method, "predicate", predicate, about, expects=CONDITION)
        site = self._site(method, "predicate", CONDITION)
        called = Called(self._nodes.functions)
        text = called.text(predicate, site, about.get("name"))
        params = called.added_to({"predicate": text, "rejected": rejected})
        made = self._add(method, params, about)
        called.keep(self._nodes, made)
        return Stream(self._nodes, made)

    def map(
        self,
        function: Callable[..., Any] | None = None,
        *,
        key: Expression | None = None,
        value: Expression | None = None,
        returns: Mapping[str, SqlType] | SqlType | None = None,
        **about: Unpack[About],
    ) -> Stream:
        """Compute a new key and a new value for each record.

        By two expressions, or by a function that returns a tuple of both. `returns`: the Spark SQL
        types of what functions return that run in Python, `{"key": ..., "value": ...}`, or of the
        tuple, `"STRUCT<key: ..., value: ...>"`.
        """
        if (function is None) == (key is None and value is None):
            raise TypeError("map() takes either a function, or key= and value=")
        if function is not None:
            if isinstance(returns, Mapping):
                raise TypeError('returns= of a function of both is one type: "STRUCT<key, value>"')
            return self._map(function, returns, about)
        called = Called(self._nodes.functions, returns)
        given = {"key": key, "value": value}
        params = {
            name: called.text(each, self._site("map", name), about.get("name"))
            for name, each in given.items()
        }
        made = self._add("map", called.added_to(params), about)
        called.keep(self._nodes, made)
        return Stream(self._nodes, made)

    def _map(self, function: Callable[..., Any], returns: SqlType | None, about: About) -> Stream:
        functions, node = self._nodes.functions, about.get("name")
        params: dict[str, object] = {}
        for element, name in enumerate(("key", "value")):
            site = replace(self._site("map", name), element=element)
            found = functions.text_or_runs(function, site, node)
            if isinstance(found, Runs):
                return self._run(found, site, returns, about)
            params[name] = found
        return Stream(self._nodes, self._add("map", params, about))

    def map_values(
        self, value: Expression, *, returns: SqlType | None = None, **about: Unpack[About]
    ) -> Stream:
        """Compute a new value for each record and keep the key.

        `returns`: the Spark SQL type of what a function returns.
        """
        return self._stateless("map_values", "value", value, about, returns=returns)

    def select_key(
        self, key: Expression, *, returns: SqlType | None = None, **about: Unpack[About]
    ) -> Stream:
        """Compute a new key for each record and keep the value."""
        return self._stateless("select_key", "key", key, about, returns=returns)

    def flat_map(
        self, records: Expression, *, returns: SqlType | None = None, **about: Unpack[About]
    ) -> Stream:
        """Turn each record into zero or more; the expression is an ARRAY<STRUCT<key, value>>.

        A function returns a list of tuples of key and value.
        """
        return self._stateless("flat_map", "records", records, about, returns=returns)

    def flat_map_values(
        self, values: Expression, *, returns: SqlType | None = None, **about: Unpack[About]
    ) -> Stream:
        """Turn each value into zero or more and keep the key; the expression is an ARRAY<V>."""
        return self._stateless("flat_map_values", "values", values, about, returns=returns)

    def repartition(
        self,
        *,
        partitions: int | None = None,
        topic: str | None = None,
        **about: Unpack[About],
    ) -> Stream:
        """Send the stream through the topic `<topic>-repartition` (default: the node's name)."""
        params = {"partitions": partitions, "name": topic}
        return Stream(self._nodes, self._add("repartition", params, about))

    def to_table(self, *, store: Store | None = None, **about: Unpack[About]) -> Table:
        """Convert to a table: the latest value of each key."""
        return Table(self._nodes, self._add("to_table", {}, about, stores=[store]))

    def group_by(
        self, key: Expression, *, returns: SqlType | None = None, repartition: str | None = None
    ) -> GroupedStream:
        """Group records by a new key.

        `repartition`: the repartition topic is called `<repartition>-repartition` (default: the
        name of the aggregation).
        """
        site = self._site("select_key", "key")
        functions = self._nodes.functions
        found = functions.text_or_runs(key, typed(site, returns, key, functions, None), None)
        if isinstance(found, Runs):
            return GroupedStream(self._run(found, site, returns, About()), None, repartition)
        return GroupedStream(self, {"key": found}, repartition)

    def group_by_key(self, *, repartition: str | None = None) -> GroupedStream:
        """Group records by their key; `repartition` as in `group_by`, for a key that changed."""
        return GroupedStream(self, None, repartition)

    def join(
        self,
        other: Stream | Table | GlobalTable,
        window: JoinWindow | None = None,
        *,
        joiner: Expression,
        key: Expression | None = None,
        grace: Duration | None = None,
        repartition: str | None = None,
        store_name: str | None = None,
        **about: Unpack[About],
    ) -> Stream:
        """Join with a stream, a table or a global table; records without a match are dropped.

        With a stream: `window` is required (`within`). With a table: the row of the record's key
        is used; with `grace`, records wait for late updates of a versioned table. With a global
        table: the row of `key` is used, an expression over the record. The joiner is an expression
        over `key`, `left`, `right` and `timestamp`, or a function of (left, right) or (key, left,
        right).

        `repartition` names the repartition topics of streams whose key has changed: with a table
        `<repartition>-repartition`, with a stream `<repartition>-left-repartition` and
        `-right-repartition`. `store_name` names the stores of a join of two streams:
        `<store_name>-this-join-store` and so on.
        """
        names = {"repartition": repartition, "store_name": store_name}
        return self._join("inner", other, window, joiner, key, grace, names, about)

    def left_join(
        self,
        other: Stream | Table | GlobalTable,
        window: JoinWindow | None = None,
        *,
        joiner: Expression,
        key: Expression | None = None,
        grace: Duration | None = None,
        repartition: str | None = None,
        store_name: str | None = None,
        **about: Unpack[About],
    ) -> Stream:
        """Like `join`, but keep records without a match: `right` is null for them."""
        names = {"repartition": repartition, "store_name": store_name}
        return self._join("left", other, window, joiner, key, grace, names, about)

    def outer_join(
        self,
        other: Stream,
        window: JoinWindow,
        *,
        joiner: Expression,
        repartition: str | None = None,
        store_name: str | None = None,
        **about: Unpack[About],
    ) -> Stream:
        """Join two streams and keep the records of both sides that have no match."""
        names = {"repartition": repartition, "store_name": store_name}
        return self._join("outer", other, window, joiner, None, None, names, about)

    def _join(
        self,
        type: str,
        other: Stream | Table | GlobalTable,
        window: JoinWindow | None,
        joiner: Expression,
        key: Expression | None,
        grace: Duration | None,
        names: Mapping[str, str | None],
        about: About,
    ) -> Stream:
        params: dict[str, object] = {"grace": in_milliseconds(grace), **names}
        if type != "inner":
            params["type"] = type
        if isinstance(other, Stream):
            if window is None:
                raise TypeError("a join of two streams needs a window: within('5 minutes')")
            kind = "join.stream_stream"
            params |= window.parts
        elif isinstance(other, GlobalTable):
            kind = "join.stream_global_table"
        elif isinstance(other, Table):
            kind = "join.stream_table"
        else:
            raise TypeError(f"a stream joins a stream or a table, found {other!r}")
        if window is not None and not isinstance(other, Stream):
            raise TypeError("only a join of two streams takes a window")
        functions, node = self._nodes.functions, about.get("name")
        called = Called(functions)
        result = functions.port(other._end).key if isinstance(other, GlobalTable) else None
        params["key"] = called.text(key, self._site(kind, "key"), node, result)
        binding = MAPPED_JOINER if isinstance(other, GlobalTable) else JOINER
        site = Site(kind, "joiner", self._joined(type, other), binding)
        found = functions.text_or_runs(joiner, site, node)
        params["joiner"] = joined(found.columns) if isinstance(found, Runs) else found
        params = called.added_to(params)
        made = self._add(kind, params, about, inputs=[(other, "right")], port="left")
        called.keep(self._nodes, made)
        pairs = Stream(self._nodes, made)
        if not isinstance(found, Runs):
            return pairs
        named = About(name=f"{made}-joiner")
        return pairs._run(found, replace(site, method="joiner"), None, named)

    def _joined(self, type: str, other: Handle) -> Columns:
        """The columns of a joiner. The side that has no match is None."""
        left, right = (self._nodes.functions.port(each._end) for each in (self, other))
        found = record(left)
        return {
            "key": replace(found["key"], none=type != "inner" or isinstance(other, GlobalTable)),
            "left": Column("left", left.value, none=type == "outer"),
            "right": Column("right", right.value, none=type != "inner"),
            "timestamp": found["timestamp"],
            "mapped_key": Column("mapped_key", right.key, none=type != "inner"),
        }


class Table(Records["Stream", "Table"]):
    """A KTable: the latest value for each key."""

    def _stream(self, node: str, port: str = "out") -> Stream:
        return Stream(self._nodes, node, port)

    def filter(
        self, predicate: Expression, *, store: Store | None = None, **about: Unpack[About]
    ) -> Table:
        """Keep rows for which the predicate is true; other rows are deleted from the result."""
        return self._step("filter", "predicate", predicate, store, about, CONDITION)

    def filter_not(
        self, predicate: Expression, *, store: Store | None = None, **about: Unpack[About]
    ) -> Table:
        """Drop rows for which the predicate is true."""
        return self._step("filter_not", "predicate", predicate, store, about, CONDITION)

    def map_values(
        self,
        value: Expression,
        *,
        returns: SqlType | None = None,
        store: Store | None = None,
        **about: Unpack[About],
    ) -> Table:
        """Compute a new value for each row; deletes are forwarded.

        `returns`: the Spark SQL type of what a function returns.
        """
        return self._step("map_values", "value", value, store, about, returns=returns)

    def _step(
        self,
        method: str,
        parameter: str,
        given: Expression,
        store: Store | None,
        about: About,
        expects: DataType | None = None,
        returns: SqlType | None = None,
    ) -> Table:
        """A table whose rows an expression decides. It is not evaluated for deletes."""
        called = Called(self._nodes.functions, returns)
        site = self._site(method, parameter, expects, present=True)
        params = called.added_to({parameter: called.text(given, site, about.get("name"))})
        made = self._add(method, params, about, stores=[store])
        called.keep(self._nodes, made)
        return Table(self._nodes, made)

    def to_stream(self, **about: Unpack[About]) -> Stream:
        """Convert to a stream of the table's updates."""
        return Stream(self._nodes, self._add("to_stream", {}, about))

    def group_by(
        self,
        key: Expression,
        value: Expression | None = None,
        *,
        returns: Mapping[str, SqlType] | SqlType | None = None,
        repartition: str | None = None,
    ) -> GroupedTable:
        """Group rows by a new key, with a new value; `repartition` as for a stream.

        By two expressions, or by one function that returns a tuple of both. `returns`: the Spark
        SQL types of what functions return, `{"key": ..., "value": ...}`, or of the tuple,
        `"STRUCT<key: ..., value: ...>"`.
        """
        by: dict[str, str] = {}
        called = Called(self._nodes.functions, returns)
        for element, (name, each) in enumerate({"key": key, "value": value}.items()):
            site = self._site("group_by", name, present=True)
            if value is None:
                if isinstance(key, str) or not callable(key):
                    raise TypeError("group_by() of a table takes a key and a value")
                site = replace(site, element=element)
            by[name] = called.text(key if value is None else each, site)
        return GroupedTable(self, by, called, repartition)

    def suppress(self, until: Suppressed, **about: Unpack[About]) -> Table:
        """Hold back updates: `until_window_closes()` or `until_time_limit("1 minute")`."""
        require(until, Suppressed, "suppress takes until_window_closes() or until_time_limit(...)")
        return Table(self._nodes, self._add("suppress", until.parts, about))

    def join(
        self,
        other: Table,
        *,
        joiner: Expression,
        foreign_key: Expression | None = None,
        returns: SqlType | None = None,
        repartition: str | None = None,
        store: Store | None = None,
        **about: Unpack[About],
    ) -> Table:
        """Join two tables by their keys, or by a foreign key.

        `foreign_key`: the key of the right row, an expression over the left `key` and `value`.
        `repartition` then names the internal topics:
        `<repartition>-subscription-registration-topic` and `-subscription-response-topic`.
        `returns`: the Spark SQL type of what a function as joiner returns.
        """
        return self._join("inner", other, joiner, foreign_key, returns, store, about, repartition)

    def left_join(
        self,
        other: Table,
        *,
        joiner: Expression,
        foreign_key: Expression | None = None,
        returns: SqlType | None = None,
        repartition: str | None = None,
        store: Store | None = None,
        **about: Unpack[About],
    ) -> Table:
        """Like `join`, but keep left rows without a match: `right` is null for them."""
        return self._join("left", other, joiner, foreign_key, returns, store, about, repartition)

    def outer_join(
        self,
        other: Table,
        *,
        joiner: Expression,
        returns: SqlType | None = None,
        store: Store | None = None,
        **about: Unpack[About],
    ) -> Table:
        """Join two tables and keep the rows of both sides that have no match."""
        return self._join("outer", other, joiner, None, returns, store, about)

    def _join(
        self,
        type: str,
        other: Table,
        joiner: Expression,
        foreign_key: Expression | None,
        returns: SqlType | None,
        store: Store | None,
        about: About,
        repartition: str | None = None,
    ) -> Table:
        if not isinstance(other, Table):
            raise TypeError(f"a table joins a table, found {other!r}")
        kind = "join.table_table" if foreign_key is None else "join.foreign_key"
        functions, node = self._nodes.functions, about.get("name")
        left, right = (functions.port(each._end) for each in (self, other))
        row = record(left, present=True)
        site = Site(kind, "foreign_key", row, PAIR, right.key)
        lost = foreign_key is not None or type == "outer"
        columns = {
            "key": row["key"],
            "left": Column("left", left.value, none=lost),
            "right": Column("right", right.value, none=type != "inner"),
            "timestamp": row["timestamp"],
        }
        called = Called(functions, None if returns is None else {"joiner": returns})
        params: dict[str, object] = {
            "joiner": called.text(joiner, Site(kind, "joiner", columns, JOINER), node),
            "foreign_key": called.text(foreign_key, site, node),
            "repartition": repartition,
        }
        params = called.added_to(params)
        if type != "inner":
            params["type"] = type
        made = self._add(
            kind, params, about, inputs=[(other, "right")], port="left", stores=[store]
        )
        called.keep(self._nodes, made)
        return Table(self._nodes, made)


class GroupedStream(StreamGroups[Table]):
    """A stream grouped by key, for aggregations."""

    def _made(self, nodes: Nodes, node: str) -> Table:
        return Table(nodes, node)

    def cogroup(self, aggregator: Expression, *, port: str = "in1") -> CogroupedStream:
        """Start a cogroup, which combines several streams into one aggregate.

        `port`: name of the node's input.
        """
        return CogroupedStream([(port, self, aggregator)])


class GroupedTable(TableGroups[Table]):
    """A table grouped by a new key; aggregated with an adder and a subtractor."""

    def _made(self, nodes: Nodes, node: str) -> Table:
        return Table(nodes, node)


class CogroupedStream(Cogroups[Table]):
    """Several grouped streams that are combined into one aggregate."""
