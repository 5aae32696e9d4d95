"""Traces of simulations: the steps of each record, and counts."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, Required, TypedDict

from millrace_model.events import NodeFigures, StoreFigures, TaskFigures
from millrace_model.records import LoggedLine, OperatorRow


class RawProgress(TypedDict):
    """Progress of a simulation as the operator has it; ``done``: cuts, without micro-batches."""

    counts: list[list[Any]]
    done: NotRequired[int]


class Statistics(TypedDict):
    """Totals of a run, as the operator counts them."""

    nodes: dict[str, NodeFigures]
    tasks: list[TaskFigures]
    stores: list[StoreFigures]
    dropped: int


#: Records of a node; `dropped` by reason, where `dead_letter` is one.
NodeCounts = TypedDict("NodeCounts", {"in": int, "out": int, "dropped": dict[str, int]})


class StepRecord(TypedDict):
    """A record as it enters a node; `old` is the former value of a table's update."""

    key: Any
    value: Any
    old: NotRequired[Any]
    timestamp: int
    headers: dict[str, str | None]


class StoreRow(TypedDict):
    """A row of a store; a row without a value was deleted or has expired."""

    key: Any
    value: Any
    timestamp: int | None
    tombstone: NotRequired[
        Annotated[bool, "The row is a version without a value; it ends the previous version."]
    ]


class Local(TypedDict):
    """A local variable, or an attribute of `self`; long values are truncated."""

    name: str
    value: str


#: A step of a record in a trace; `millrace_runtime.reports.trace` describes its events.
TraceStep = TypedDict(
    "TraceStep",
    {
        "seq": Required[int],
        "parent": Required[Annotated[int | None, "The step that caused it."]],
        "after": Required[Annotated[int, "Number of its input line, starting at 1."]],
        "event": Required[Annotated[str, "record, drop, end, store, punctuate, log or stop"]],
        "node": Required[str],
        "task": str,
        "stream_time": int | None,
        "from": str | None,
        "port": str | None,
        "input": Annotated[int, "0: the first, or left, input."],
        "edge": Annotated[int | None, "The index of the document's edge."],
        "inner": Annotated[str, "The node within the fragment that `node` stands for."],
        "inner_edge": Annotated[int, "The index of the edge in `inner_edges` of the result."],
        "inside": Annotated[
            bool, "Whether the record was in the node before, and comes from another part of it."
        ],
        "record": StepRecord,
        "reason": str,
        "dead_letter": bool,
        "window_start": int,
        "window_end": int,
        "closed_until": Annotated[int, "Windows that end before this time, in ms, are closed."],
        "time": int,
        "kept_from": int,
        "store": str,
        "row": StoreRow,
        "clock": str,
        "now": int,
        "level": Annotated[str, "Of a printed line: info or warning."],
        "message": str,
        "line": Annotated[int, "Of a stop at a breakpoint."],
        "code": Annotated[
            str, "The setting that has this line, such as settings.modules.prices; else the node."
        ],
        "function": str,
        "locals": list[Local],
        "more_locals": Annotated[bool, "Whether there are more local variables than are listed."],
    },
    total=False,
)


class RawTrace(TypedDict):
    """A trace as the operator has it, with the steps of the task graph."""

    steps: list[Any]
    truncated: bool
    stops_truncated: bool
    stores_truncated: bool
    counts: list[list[Any]]


class Counts(TypedDict):
    """Records by edge (in the document's order) and by node."""

    edges: list[int]
    nodes: dict[str, NodeCounts]


class RunProgress(TypedDict):
    """The number of processed input lines, their total, and the records so far.

    `edges` and `nodes` are as in a result; they are missing while plain Spark runs.
    """

    done: int
    lines: int
    edges: NotRequired[list[int]]
    nodes: NotRequired[dict[str, NodeCounts]]


class DropCount(TypedDict):
    """Records that a node dropped for a reason."""

    node: str
    reason: str
    count: int


class DriverStep(TypedDict):
    """What the tasks of a test driver did with some records (``TestDriver.scala``).

    ``nodes``: [node, records in, records out]. ``answer``: of an operation of a store.
    """

    rows: list[OperatorRow]
    drops: list[DropCount]
    nodes: NotRequired[list[tuple[str, int, int]]]
    logs: NotRequired[list[LoggedLine]]
    answer: NotRequired[Any]
