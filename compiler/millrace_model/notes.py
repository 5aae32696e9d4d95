"""The notes of a checkpoint (``stores.json``): which job wrote it, and where its state is."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from millrace_model.graphs import GraphNode
from millrace_model.state import StateSchema, StoreDrops


class NotedStore(TypedDict):
    """A store, and the step that keeps it."""

    name: str
    node: str
    kind: str
    operator: str
    level: int


class NotedSource(TypedDict):
    """A source, and the topics that it reads by name."""

    id: str
    topics: list[str] | None


class MovedFrom(TypedDict):
    """The query from which a state was moved: its folder and its last batch."""

    stream: str
    batch: int | None
    #: whether the new query begins without state
    empty: NotRequired[bool]


class Kept(TypedDict):
    """A folder that an earlier version left, and when."""

    stream: str
    batch: NotRequired[int | None]
    left: NotRequired[str]


class StateNotes(TypedDict, total=False):
    """What the notes say about the state."""

    state: StateSchema
    changes: list[StoreDrops]


class Notes(StateNotes, total=False):
    """The notes. Those of earlier versions have fewer fields; a new checkpoint has none."""

    layout: int | None
    tasks: int
    #: whether the wall clock is one of the query's sources
    clock: bool
    levels: int
    subtopologies: dict[str, int]
    sources: list[NotedSource]
    #: nodes that read DataFrames
    readers: list[str]
    stores: list[NotedStore]
    nodes: list[GraphNode]
    #: folder of the query, if it is not ``stream``
    stream: str
    kept: list[Kept]
    #: id of the last request to begin elsewhere
    begun: str | None
    #: of a move that waits for the job's first batch
    base: MovedFrom


class LeaseNotes(TypedDict, total=False):
    """The files of a lease; empty until its owner has written them."""

    owner: str
    renewals: int
    released: bool
