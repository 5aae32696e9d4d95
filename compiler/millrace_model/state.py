"""The state schema: the stores of a version with their types, and its topics."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias, TypedDict

#: A type in the form of Spark's ``DataType.json``.
SparkType: TypeAlias = "str | StructType | ArrayType | MapType"


class Field(TypedDict):
    """A field of a struct."""

    name: str
    type: SparkType


class StructType(TypedDict):
    """A struct."""

    type: Literal["struct"]
    fields: list[Field]


class ArrayType(TypedDict):
    """An array."""

    type: Literal["array"]
    elementType: SparkType


class MapType(TypedDict):
    """A map."""

    type: Literal["map"]
    keyType: SparkType
    valueType: SparkType


class Windows(TypedDict, total=False):
    """Windows of a store or of a node: their type, and times in ms or words."""

    type: str
    size: int
    advance: int
    gap: int
    grace: int
    difference: int
    unit: str
    time_zone: str
    offset: int
    first_day: str
    #: of windows that a function returns: its source, name, and file in a program
    code: str
    function: str
    file: str


class StoreSchema(TypedDict):
    """A store.

    ``values`` has the types by part: a join of streams has ``left`` and ``right``. ``tasks`` is
    ``None`` for a store of which every task has a full copy.
    """

    id: str
    name: str
    kind: str
    tasks: int | None
    key: SparkType
    values: dict[str, SparkType]
    windows: Windows | None
    #: of a window store that keeps several values of one key and time
    duplicates: NotRequired[bool]
    #: of a foreign-key join that keeps its result beside its subscriptions, on the tasks of the
    #: left table
    row_tasks: NotRequired[int | None]


class StateSchema(TypedDict):
    """The state of a version: its stores, topics read by name, and patterns of topics.

    ``known``: further topics that a pattern may match. ``identity``: of a plain program.
    """

    identity: NotRequired[str]
    stores: list[StoreSchema]
    topics: list[str]
    patterns: list[str]
    known: list[str]


class StoreVerdictJson(TypedDict):
    """The verdict on a store, as ``compare-state --json`` shows it."""

    id: Annotated[str, "Id of the store node, or of the operator that owns the store."]
    kind: str
    verdict: str
    reasons: list[str]


class SourceVerdictJson(TypedDict):
    """The verdict on a topic that is read."""

    topic: str
    verdict: str


class StateChangeJson(TypedDict):
    """The result of ``compare-state --json``."""

    stores: list[StoreVerdictJson]
    sources: list[SourceVerdictJson]
    accepted: bool


#: The types of a value before and after an expression.
Conversion = TypedDict("Conversion", {"from": str, "to": str})

#: A conversion of the values of a store, by a SQL expression over ``old``.
StoreConversion = TypedDict(
    "StoreConversion", {"store": str, "from": str, "to": str, "expression": str}
)


class StoreDrops(TypedDict):
    """Stores that a version empties or converts, by the names of their rows."""

    drop: list[str]
    convert: NotRequired[list[StoreConversion]]
