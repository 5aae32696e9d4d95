"""A stream task: its sources, what comes to it from other tasks, and nodes with several inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from millrace_runtime.formats import Format
from millrace_runtime.graph import Handle
from millrace_runtime.stores import Store
from millrace_runtime.streams import GlobalTable, GroupedTable, Stream, Table, Window

if TYPE_CHECKING:
    from millrace_runtime.job import Job


class Task:
    """The nodes of one sub-topology on one level."""

    def __init__(self, job: Job, sub: int, level: int, tasks: int) -> None:
        self.job = job
        self.sub = sub
        self.level = level
        self.tasks = tasks

    def __enter__(self) -> Self:
        self.job.graph.open = self
        return self

    def __exit__(self, *_: object) -> None:
        self.job.graph.open = None

    def add(
        self, op: str, id: str, node: str | None, parents: Sequence[Handle] = (), **params: Any
    ) -> tuple[Task, str]:
        """Append a node of this task to the job's graph."""
        self.job.graph.add(op, id, node, self.sub, self.level, parents, **params)
        return self, id

    def stream(
        self,
        id: str,
        *,
        key: Format,
        value: Format,
        topics: Sequence[str] | None = None,
        pattern: str | None = None,
        timestamp: str | None = None,
        invalid_timestamp: str = "fail",
        start: str = "earliest",
        node: str | None = None,
    ) -> Stream:
        """The records of some topics."""
        self.add(
            "stream", id, node, topics=list(topics) if topics else None, pattern=pattern, key=key,
            value=value, timestamp=timestamp, invalid_timestamp=invalid_timestamp, start=start,
        )  # fmt: skip
        self.job.reads(self, id, topics=topics or (), pattern=pattern, start=start)
        self.job.noted(topics or (), pattern, key, value)
        return Stream(self, id)

    def table(
        self,
        id: str,
        *,
        topic: str,
        key: Format,
        value: Format,
        timestamp: str | None = None,
        invalid_timestamp: str = "fail",
        start: str = "earliest",
        store: Store | None = None,
        node: str | None = None,
    ) -> Table:
        """The latest value of each key of a topic."""
        self.add(
            "table", id, node, topic=topic, key=key, value=value, timestamp=timestamp,
            invalid_timestamp=invalid_timestamp, start=start, store=store,
        )  # fmt: skip
        self.job.reads(self, id, topics=(topic,), start=start)
        self.job.noted((topic,), None, key, value)
        return Table(self, id)

    def global_table(
        self,
        id: str,
        *,
        topic: str,
        key: Format,
        value: Format,
        store: Store | None = None,
        node: str | None = None,
    ) -> GlobalTable:
        """The latest value of each key of a topic, all of it on every task."""
        self.add("global_table", id, node, topic=topic, key=key, value=value, store=store)
        self.job.reads(self, id, topics=(topic,), start="earliest", everywhere=True)
        self.job.noted((topic,), None, key, value)
        return GlobalTable(self, id)

    def repartitioned(self, repartition: str, *, node: str | None = None) -> Stream:
        """The records that a repartition sent to this task."""
        id = f"{repartition}-source"
        self.add("repartitioned", id, node or repartition, (Stream(self, repartition),))
        self.job.receives(repartition, id)
        return Stream(self, id)

    def grouped_table(self, group: str, *, node: str | None = None) -> GroupedTable:
        """The (new, old) pairs that a table's `group_by` sent to this task."""
        id = f"{group}-source"
        self.add("grouped_table", id, node or group, (Stream(self, group),))
        return GroupedTable(self, id)

    def cogroup(
        self,
        id: str,
        *,
        inputs: Sequence[tuple[Stream, str]],
        type: str,
        initializer: str,
        merger: str | None = None,
        window: Window | None = None,
        store: Store | None = None,
        node: str | None = None,
    ) -> Table:
        """Folds several streams with equal keys into one aggregate, each with its aggregator."""
        return Table(
            *self.add(
                "cogroup", id, node, [stream for stream, _ in inputs],
                aggregators=[aggregator for _, aggregator in inputs], type=type,
                initializer=initializer, merger=merger, window=window, store=store,
            )
        )  # fmt: skip

    def foreign_key_lookup(
        self,
        id: str,
        *,
        subscription: str,
        right: Table,
        type: str,
        partitions: int,
        node: str | None = None,
    ) -> None:
        """Second part of a foreign-key join: answers with the right table's row."""
        self.add(
            "foreign_key_lookup", id, node, (Stream(self, subscription), right), type=type,
            partitions=partitions,
        )  # fmt: skip

    def foreign_key_resolve(
        self,
        id: str,
        *,
        response: str,
        left: Table,
        type: str,
        joiner: str,
        store: Store | None = None,
        node: str | None = None,
    ) -> Table:
        """Third part of a foreign-key join: joins an answer that is still the latest question."""
        self.add(
            "foreign_key_resolve", id, node, (Stream(self, response), left), type=type,
            joiner=joiner, store=store,
        )  # fmt: skip
        return Table(self, id)
