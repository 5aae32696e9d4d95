"""The frames that the operator and a worker exchange (``PythonWorker.scala``)."""

from __future__ import annotations

from typing import Any, TypedDict


class Types(TypedDict):
    """Types of key and value, in the form of Spark's ``DataType.json``."""

    key: Any
    value: Any


class StoreSpec(TypedDict, total=False):
    """A store: with an ``owner``, the node that writes it, it can only be read."""

    name: str
    kind: str
    types: Types
    owner: str
    timestamps: bool
    #: whether rows are ``ValueTimestampHeaders``
    headers: bool


_Kept = TypedDict("_Kept", {"global": bool, "named": bool, "table": bool, "tasks": int})


class DriverStore(StoreSpec, _Kept):
    """A store of a test driver: of a table or of a processor, in all tasks or in each a part."""


class InputFrame(Types):
    """An input: the method that is called, and the types of its records."""

    method: str


class BreakpointFrame(TypedDict):
    """Lines of statements where a simulation stops, and how often it does so at most.

    ``lines`` are those of the node's or handler's own code, ``modules`` those of modules by name.
    """

    lines: list[int]
    modules: dict[str, list[int]]
    most: int


class Moment(TypedDict, total=False):
    """Seed and processing time of a call, and the numbers that were drawn from the seed."""

    seed: int
    time: int
    random: Any


class Frame(TypedDict, total=False):
    """A call: ``start`` of a node, ``process`` of a record, ``punctuate`` or ``close``.

    ``handler`` starts a handler of errors, and ``handle`` calls it; ``windows`` starts a function
    of windows, and ``windows_of`` calls it; ``functions`` starts those that the expressions of a
    node call, and ``function`` calls one.
    """

    call: str
    node: str
    #: maximum duration of the call in ms
    limit_ms: int | None
    #: response to a message
    answer: Any
    # ---- start
    name: str
    fixed: bool
    only_stores: bool
    ports: list[str]
    task_id: Any
    inputs: list[InputFrame]
    out: Types
    stores: list[StoreSpec]
    code: str
    class_name: str
    arguments: Any
    file: str | None
    breakpoints: BreakpointFrame | None
    #: source of the modules that the code can import, by their full names
    modules: dict[str, str]
    # ---- handler and handle
    kind: str
    function: str
    #: of functions: whether only the truth of what they return counts
    judges: bool
    #: of a function: number of a use, and the types of its arguments and its result
    use: int
    types: list[Any]
    #: whether there is a dead letter topic
    letters: bool
    error: Any
    #: fields of the error that are unknown and must not be read
    unknown: list[str]
    # ---- process and punctuate
    input: int
    #: of a handler an object, else key, value, timestamp and headers
    record: Any
    schedule: int
    #: of a call of windows
    timestamp: int
    now: int
    topic: str | None
    partition: int
    offset: int
    stream_time: int
    wall_clock: int
    moment: Moment


class End(TypedDict, total=False):
    """The end of a call. ``lost``: whether the worker cannot be used any more."""

    done: bool
    error: object
    lost: bool
