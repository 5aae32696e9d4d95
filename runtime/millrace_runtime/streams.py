"""Streams and tables in a stream task: what a generated `topology(job)` calls to add nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from millrace_runtime.formats import Format
from millrace_runtime.graph import Handle
from millrace_runtime.stores import Store

Window = dict[str, Any]


class Stream(Handle):
    """A stream of records."""

    def filter(self, id: str, predicate: str, *, node: str | None = None) -> Stream:
        """Keeps the records for which the predicate is true; null counts as false."""
        return Stream(*self._then("filter", id, node, predicate=predicate))

    def filter_not(self, id: str, predicate: str, *, node: str | None = None) -> Stream:
        """Keeps the records for which the predicate is not true."""
        return Stream(*self._then("filter_not", id, node, predicate=predicate))

    def map(self, id: str, *, key: str, value: str, node: str | None = None) -> Stream:
        """A new key and a new value for each record."""
        return Stream(*self._then("map", id, node, key=key, value=value))

    def map_values(self, id: str, value: str, *, node: str | None = None) -> Stream:
        """A new value for each record."""
        return Stream(*self._then("map_values", id, node, value=value))

    def select_key(self, id: str, key: str, *, node: str | None = None) -> Stream:
        """A new key for each record."""
        return Stream(*self._then("select_key", id, node, key=key))

    def flat_map(self, id: str, records: str, *, node: str | None = None) -> Stream:
        """Any number of records, key and value, for each record."""
        return Stream(*self._then("flat_map", id, node, records=records))

    def flat_map_values(self, id: str, values: str, *, node: str | None = None) -> Stream:
        """Any number of values for each record."""
        return Stream(*self._then("flat_map_values", id, node, values=values))

    def peek(self, id: str, message: str, *, node: str | None = None) -> Stream:
        """Writes a line to the log for each record and passes it on."""
        return Stream(*self._then("peek", id, node, message=message))

    def merge(self, id: str, *others: Stream, node: str | None = None) -> Stream:
        """The records of all the streams, in the order in which they arrive."""
        return Stream(*self._then("merge", id, node, *others))

    def split(
        self,
        id: str,
        branches: Sequence[tuple[str, str]],
        default_port: str | None = None,
        *,
        node: str | None = None,
    ) -> dict[str, Stream]:
        """One stream per port; a record goes to the first branch whose predicate is true."""
        task, id = self._then(
            "split",
            id,
            node,
            branches=[{"port": port, "predicate": predicate} for port, predicate in branches],
            default_port=default_port,
        )
        ports = [port for port, _ in branches] + ([default_port] if default_port else [])
        return {port: Stream(task, id, port) for port in ports}

    def repartition(
        self,
        id: str,
        partitions: int,
        *,
        keep_null_keys: bool = False,
        node: str | None = None,
    ) -> None:
        """Sends the records to the tasks of their keys; `Task.repartitioned` takes them there."""
        self._then("repartition", id, node, partitions=partitions, keep_null_keys=keep_null_keys)

    def to_table(self, id: str, *, store: Store | None = None, node: str | None = None) -> Table:
        """The latest value of each key."""
        return Table(*self._then("to_table", id, node, store=store))

    def count(
        self,
        id: str,
        *,
        window: Window | None = None,
        emit: str = "every_update",
        store: Store | None = None,
        node: str | None = None,
    ) -> Table:
        """The number of records of each key, or of each key and window."""
        return Table(*self._then("count", id, node, window=window, emit=emit, store=store))

    def reduce(
        self,
        id: str,
        *,
        reducer: str,
        window: Window | None = None,
        emit: str = "every_update",
        store: Store | None = None,
        node: str | None = None,
    ) -> Table:
        """Combines the values of each key with an expression over `agg` and `value`."""
        return Table(
            *self._then("reduce", id, node, reducer=reducer, window=window, emit=emit, store=store)
        )

    def aggregate(
        self,
        id: str,
        *,
        type: str,
        initializer: str,
        aggregator: str,
        merger: str | None = None,
        window: Window | None = None,
        emit: str = "every_update",
        store: Store | None = None,
        node: str | None = None,
    ) -> Table:
        """Folds the values of each key into an aggregate of the given type."""
        return Table(
            *self._then(
                "aggregate", id, node, type=type, initializer=initializer, aggregator=aggregator,
                merger=merger, window=window, emit=emit, store=store,
            )
        )  # fmt: skip

    def join_stream(
        self,
        id: str,
        right: Stream,
        *,
        type: str,
        before: int,
        after: int,
        joiner: str,
        grace: int = 0,
        node: str | None = None,
    ) -> Stream:
        """Pairs of records with equal keys whose times lie within `before` and `after` ms."""
        return Stream(
            *self._then(
                "join_stream", id, node, right, type=type, before=before, after=after,
                grace=grace, joiner=joiner,
            )
        )  # fmt: skip

    def join_table(
        self,
        id: str,
        table: Table,
        *,
        type: str,
        joiner: str,
        grace: int | None = None,
        node: str | None = None,
    ) -> Stream:
        """Each record with the table's value of its key."""
        return Stream(
            *self._then("join_table", id, node, table, type=type, joiner=joiner, grace=grace)
        )

    def join_global(
        self,
        id: str,
        global_table: GlobalTable,
        *,
        type: str,
        key: str,
        joiner: str,
        node: str | None = None,
    ) -> Stream:
        """Each record with the global table's value of a key computed from the record."""
        return Stream(
            *self._then("join_global", id, node, global_table, type=type, key=key, joiner=joiner)
        )

    def process(
        self,
        id: str,
        *,
        code: str,
        class_name: str,
        output: dict[str, str],
        outputs: Sequence[str] = ("out",),
        stores: Sequence[Store] = (),
        inputs: Sequence[Stream] = (),
        node: str | None = None,
    ) -> dict[str, Stream]:
        """Runs a Processor class of Python for each record; one stream per output port."""
        task, id = self._then(
            "process", id, node, *inputs, code=code, class_name=class_name, output=output,
            outputs=list(outputs), stores=list(stores),
        )  # fmt: skip
        return {port: Stream(task, id, port) for port in outputs}

    def process_values(
        self,
        id: str,
        *,
        code: str,
        class_name: str,
        output: dict[str, str],
        outputs: Sequence[str] = ("out",),
        stores: Sequence[Store] = (),
        inputs: Sequence[Stream] = (),
        node: str | None = None,
    ) -> dict[str, Stream]:
        """Like `process`, for a class that leaves keys alone."""
        task, id = self._then(
            "process_values", id, node, *inputs, code=code, class_name=class_name, output=output,
            outputs=list(outputs), stores=list(stores),
        )  # fmt: skip
        return {port: Stream(task, id, port) for port in outputs}

    def to(
        self,
        id: str,
        *,
        topic: str | None = None,
        topic_expression: str | None = None,
        key: Format | None = None,
        value: Format | None = None,
        partition: str | None = None,
        node: str | None = None,
    ) -> None:
        """Writes the records to a topic."""
        self._then(
            "to", id, node, topic=topic, topic_expression=topic_expression, key=key, value=value,
            partition=partition,
        )  # fmt: skip

    def print_(self, id: str, label: str | None = None, *, node: str | None = None) -> None:
        """Writes the records to the log."""
        self._then("print", id, node, label=label)


class Table(Handle):
    """A table: the latest value of each key, and its updates."""

    def filter(
        self, id: str, predicate: str, *, store: Store | None = None, node: str | None = None
    ) -> Table:
        """The rows for which the predicate is true; others count as deleted."""
        return Table(*self._then("filter", id, node, predicate=predicate, store=store))

    def filter_not(
        self, id: str, predicate: str, *, store: Store | None = None, node: str | None = None
    ) -> Table:
        """The rows for which the predicate is not true."""
        return Table(*self._then("filter_not", id, node, predicate=predicate, store=store))

    def map_values(
        self, id: str, value: str, *, store: Store | None = None, node: str | None = None
    ) -> Table:
        """A new value for each row; a delete stays a delete."""
        return Table(*self._then("map_values", id, node, value=value, store=store))

    def to_stream(self, id: str, *, node: str | None = None) -> Stream:
        """The table's updates as a stream."""
        return Stream(*self._then("to_stream", id, node))

    def suppress(
        self,
        id: str,
        *,
        until: str,
        limit: int | None = None,
        max_records: int | None = None,
        max_bytes: int | None = None,
        when_full: str | None = None,
        node: str | None = None,
    ) -> Table:
        """Holds updates back until their window closes or `limit` ms have passed."""
        return Table(
            *self._then(
                "suppress", id, node, until=until, limit=limit, max_records=max_records,
                max_bytes=max_bytes, when_full=when_full,
            )
        )  # fmt: skip

    def group_by(
        self, id: str, *, key: str, value: str, partitions: int, node: str | None = None
    ) -> None:
        """Sends (new, old) pairs to the tasks of a new key; `Task.grouped_table` takes them."""
        self._then("group_by", id, node, key=key, value=value, partitions=partitions)

    def join_table(
        self,
        id: str,
        other: Table,
        *,
        type: str,
        joiner: str,
        store: Store | None = None,
        node: str | None = None,
    ) -> Table:
        """The rows of both tables with equal keys."""
        return Table(
            *self._then("join_table", id, node, other, type=type, joiner=joiner, store=store)
        )

    def foreign_key_subscribe(
        self,
        id: str,
        *,
        foreign_key: str,
        type: str,
        partitions: int,
        node: str | None = None,
    ) -> None:
        """First part of a foreign-key join: tells the right table's tasks who asks for a row."""
        self._then(
            "foreign_key_subscribe", id, node, foreign_key=foreign_key, type=type,
            partitions=partitions,
        )  # fmt: skip


class GlobalTable(Handle):
    """A table that is whole on every task."""


class GroupedTable(Handle):
    """A table grouped by a new key: aggregated with an adder and a subtractor."""

    def count(self, id: str, *, store: Store | None = None, node: str | None = None) -> Table:
        """The number of rows of each group."""
        return Table(*self._then("count", id, node, store=store))

    def reduce(
        self,
        id: str,
        *,
        reducer: str,
        subtractor: str,
        store: Store | None = None,
        node: str | None = None,
    ) -> Table:
        """Combines the values of each group; the subtractor takes an old value out."""
        return Table(
            *self._then("reduce", id, node, reducer=reducer, subtractor=subtractor, store=store)
        )

    def aggregate(
        self,
        id: str,
        *,
        type: str,
        initializer: str,
        aggregator: str,
        subtractor: str,
        store: Store | None = None,
        node: str | None = None,
    ) -> Table:
        """Folds the values of each group; the subtractor takes an old value out."""
        return Table(
            *self._then(
                "aggregate", id, node, type=type, initializer=initializer, aggregator=aggregator,
                subtractor=subtractor, store=store,
            )
        )  # fmt: skip
