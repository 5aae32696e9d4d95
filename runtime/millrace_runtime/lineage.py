"""Which plain steps follow which, so that a driver can report the tasks and nodes of DataFrames.

A DataFrame sub-topology has no stream task that could count: its rows are counted by expressions
that pass `_merge` through. Each end of a chain (a sink, a repartition, the hand-over to a stream
task) evaluates everything before it anew, so a figure is divided by the number of ends behind it.
"""

from __future__ import annotations

import weakref
from collections import Counter
from contextvars import ContextVar
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

from millrace_runtime import columns

_current: ContextVar[Lineage | None] = ContextVar("millrace_lineage", default=None)


class Lineage:
    """The plain steps of one job, by their physical ids."""

    def __init__(self, run: str) -> None:
        self.run = run
        self._made: weakref.WeakKeyDictionary[DataFrame, str] = weakref.WeakKeyDictionary()
        self._before: dict[str, str | None] = {}
        self._nodes: dict[str, str] = {}
        self._readers: list[str] = []
        self._joined: dict[str, int] = {}
        self._ends: Counter[str] = Counter()

    def read(self, df: DataFrame, id: str, node: str) -> DataFrame:
        """A source: its rows tell which partition they come from, and how far it is read."""
        millis = F.unix_millis("timestamp")
        places = [F.col("topic"), F.col("partition"), F.col("offset"), millis]
        counted = columns.reading(F.col("_merge"), self.run, len(self._readers), *places)
        self._readers.append(id)
        return self._note(df.withColumn("_merge", counted), id, node, None)

    def step(self, before: DataFrame, after: DataFrame, id: str, node: str) -> DataFrame:
        """A step from one DataFrame to the next; a step inside another node is not counted."""
        if node == id:
            after = after.withColumn(
                "_merge", columns.observe(F.col("_merge"), self.run, node, "out")
            )
        return self._note(after, id, node, self._made.get(before))

    def end(self, df: DataFrame, id: str, node: str, subtopology: int | None = None) -> None:
        """The end of a chain; `subtopology` is that of the stream task that goes on with it."""
        at = self._made.get(df)
        self._before[id], self._nodes[id] = at, node
        while at is not None:
            self._ends[at] += 1
            if subtopology is not None and at in self._readers:
                self._joined[at] = subtopology
            at = self._before[at]

    def _note(self, df: DataFrame, id: str, node: str, before: str | None) -> DataFrame:
        self._before[id], self._nodes[id] = before, node
        self._made[df] = id
        return df

    def summary(self, stream_tasks: set[int]) -> dict[str, Any]:
        """What `figures` needs, as JSON: sub-topologies have the numbers that tasks leave free."""
        free = iter(
            n for n in range(len(stream_tasks) + len(self._readers)) if n not in stream_tasks
        )
        return {
            "readers": [
                {"id": id, "subtopology": self._joined[id], "joined": True}
                if id in self._joined
                else {"id": id, "subtopology": next(free), "joined": False}
                for id in self._readers
            ],
            "before": self._before,
            "nodes": self._nodes,
            "ends": dict(self._ends),
        }


def follow(lineage: Lineage | None) -> None:
    """From here on steps are noted in this lineage; with None they are not counted."""
    _current.set(lineage)


def stepped(before: DataFrame, after: DataFrame, id: str, node: str) -> DataFrame:
    """The DataFrame after a step, counted where a driver wants to know."""
    lineage = _current.get()
    return after if lineage is None else lineage.step(before, after, id, node)


def figures(statistics: dict[str, Any], summary: dict[str, Any]) -> None:
    """Completes what the operator counted: tasks of plain sub-topologies, nodes in and out."""
    readers, ends = summary["readers"], summary["ends"]
    nodes: dict[str, Any] = statistics.setdefault("nodes", {})
    for id, node in summary["nodes"].items():
        if node == id and id in nodes and ends.get(id, 1) > 1:
            nodes[id]["out"] //= ends[id]
    plain = [task for task in statistics["tasks"] if task["subtopology"] < 0]
    tasks = [task for task in statistics["tasks"] if task["subtopology"] >= 0]
    by_name = {task["task"]: task for task in tasks}
    for task in plain:
        reader = readers[-1 - task["subtopology"]]
        task["records"] //= max(1, ends.get(reader["id"], 1))
        source = nodes.setdefault(summary["nodes"][reader["id"]], _nothing())
        source["in"] += task["records"]
        source["out"] += task["records"]
        task["subtopology"] = reader["subtopology"]
        task["task"] = f"{reader['subtopology']}_{task['partition']}"
        running = by_name.get(task["task"])
        if running is None:
            by_name[task["task"]] = task
            tasks.append(task)
        elif reader["joined"]:
            known = {(each["topic"], each["partition"]) for each in running["topic_partitions"]}
            running["topic_partitions"] += [
                each
                for each in task["topic_partitions"]
                if (each["topic"], each["partition"]) not in known
            ]
    for id, before in summary["before"].items():
        if before is None or summary["nodes"][before] == summary["nodes"][id]:
            continue
        given = nodes.get(summary["nodes"][before], _nothing())["out"]
        figure = nodes.setdefault(summary["nodes"][id], _nothing())
        figure["in"] = figure["in"] or given
    statistics["tasks"] = sorted(tasks, key=lambda task: (task["subtopology"], task["partition"]))


def _nothing() -> dict[str, Any]:
    return {"in": 0, "out": 0, "dropped": {}}
