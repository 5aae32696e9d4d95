"""The task graph: what the stateful operator runs, made from a plan by the compiler.

``runtime/scala/tasks/TaskGraph.scala`` reads it.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from millrace_model.documents import DocumentSettings, Params
from millrace_model.state import StoreDrops, Windows


class GraphStore(TypedDict, total=False):
    """A store of a step, as its node or its operator declares it. Times are in ms."""

    name: str
    node: str
    kind: str
    #: name of the rows in the state of a further copy of a global store, else the node's id
    state: str
    key_type: str
    value_type: str
    persistent: bool
    logging: bool
    logging_config: object
    retention: int
    history_retention: int
    window_size: int
    retain_duplicates: bool


class GraphTable(TypedDict):
    """A store of another step that a processor reads."""

    name: str
    step: str


class Output(TypedDict, total=False):
    """Types of what a processor forwards."""

    key: str | None
    value: str | None


class Reader(TypedDict):
    """A Spark format that is read instead of topics. ``columns``: expressions by name."""

    format: str
    options: dict[str, Any]
    schema: NotRequired[str | None]
    columns: dict[str, str]


class CalledFunctions(TypedDict):
    """Functions in Python that the expressions of a step call, and the types that they return.

    ``file``: that of a program whose lines the code has.
    """

    code: str
    returns: dict[str, str]
    file: NotRequired[str]


class StepParams(TypedDict, total=False):
    """Parameters of a step that Python reads; others are for the operator alone."""

    #: `Format` of a source or a sink; for other steps, expressions
    key: Any
    value: Any
    topic: str
    topics: list[str]
    pattern: str | None
    start: str
    timestamp: str
    topic_expression: str
    partitions: int
    reader: Reader
    store: GraphStore
    stores: list[GraphStore]
    tables: list[GraphTable]
    window: Windows | None
    emit: str
    output: Output
    methods: list[str]
    code: str
    class_name: str
    arguments: Params
    functions: CalledFunctions
    #: name of the file that the code is from
    file: str
    keep_null_keys: bool
    #: whether it is a further copy of a global table
    copy: bool


class GraphNode(TypedDict):
    """A step: its operation, its place, and its parents as (step, port).

    Notes of earlier versions may lack what is not required.
    """

    id: str
    node: NotRequired[str]
    op: str
    sub: NotRequired[int]
    level: int
    parents: NotRequired[list[list[str]]]
    params: StepParams


class ReadingJson(TypedDict):
    """Topics that a source node reads, and its tasks (``SourceRows.scala``)."""

    dest: int
    tasks: int
    topics: tuple[str, ...]
    pattern: str | None
    everywhere: bool


class RecordHandlerJson(TypedDict):
    """A decision about a single record."""

    topic: str
    partition: int
    offset: int
    handler: Literal["continue", "dead_letter"]


class Limits(TypedDict, total=False):
    """Limits of processors and stores."""

    python_timeout_ms: int
    python_memory_mb: int
    store_memory_mb: int


class PythonOptions(Limits):
    """How Python processes are started."""

    python: str
    python_path: str


class OperatorOptions(PythonOptions):
    """The options of the operator (``StreamTasks.scala``)."""

    shuffle_partitions: int
    run: str
    application: str
    simulation: bool
    real_time: bool
    wall_clock: bool
    updates: bool
    state_changes: list[StoreDrops]
    record_handlers: list[RecordHandlerJson]
    direct_tasks: NotRequired[int | None]


class GraphFunction(TypedDict):
    """A handler of errors in Python; ``file``: that of a program whose lines the code has."""

    code: str
    name: str
    file: NotRequired[str]


class GraphSettings(DocumentSettings, total=False):
    """The settings of a document, with the functions among the handlers by kind of error."""

    functions: dict[str, GraphFunction]


class TaskGraph(TypedDict):
    """The steps of a job, ordered by level and sub-topology.

    ``tasks``: the number of tasks of the widest level; ``subtopologies``: of each. ``children``
    lists the children of each step that forwards records to them in another order.
    """

    tasks: int
    subtopologies: dict[str, int]
    settings: GraphSettings
    nodes: list[GraphNode]
    children: NotRequired[dict[str, list[str]]]
