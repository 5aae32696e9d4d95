"""The topology document, as its JSON.

These are the shapes of a document that was read by :mod:`millrace_compiler.documents.document` or
written by this version. One from outside may be anything until the compiler has read it.
"""

from __future__ import annotations

from typing import Any, NotRequired, Required, TypeAlias, TypedDict

#: Parameters of a node by name. Its operator declares them, with their types.
Params: TypeAlias = dict[str, Any]


class Format(TypedDict, total=False):
    """How bytes on Kafka become values of a type and back."""

    format: Required[str]
    schema: str
    registry: str
    subject: str
    #: name of the key's format, for keys with a window
    inner: object
    window_size: int | str
    #: fields of a Protobuf message
    message: object


class Position(TypedDict):
    """Where the page draws a node."""

    x: float
    y: float


class DocumentNode(TypedDict):
    """A node."""

    id: str
    kind: str
    params: NotRequired[Params]
    label: NotRequired[str | None]
    description: NotRequired[str | None]
    position: NotRequired[Position]


class DocumentEdge(TypedDict):
    """An edge; the ports are `out` and `in` unless stated."""

    source: str
    target: str
    source_port: NotRequired[str | None]
    target_port: NotRequired[str | None]


class TopicSettings(TypedDict, total=False):
    """What a document assumes about a topic."""

    partitions: int


class DocumentSettings(TypedDict, total=False):
    """The settings of a document."""

    processing_guarantee: str
    deserialization_handler: str
    processing_handler: str
    production_handler: str
    deserialization_function: str
    processing_function: str
    production_function: str
    uncaught_exception_handler: str
    dead_letter_topic: str
    names: str
    optimization: str
    #: source by the full name of each module
    modules: dict[str, str]


class DocumentParameter(TypedDict, total=False):
    """A parameter of the topology; `${name}` stands for its value."""

    type: str
    default: object
    #: by environment
    values: dict[str, object]
    description: str


class FragmentDefinition(TypedDict, total=False):
    """A version of a fragment: a part of a document, whose ports are nodes."""

    description: str
    parameters: dict[str, DocumentParameter]
    nodes: Required[list[DocumentNode]]
    edges: Required[list[DocumentEdge]]
    drawing: object


class TopologyDocument(TypedDict, total=False):
    """A topology document."""

    format: str
    name: str
    description: str | None
    settings: DocumentSettings
    topics: dict[str, TopicSettings]
    parameters: dict[str, DocumentParameter]
    nodes: Required[list[DocumentNode]]
    edges: Required[list[DocumentEdge]]
    #: groups and notes, which do not affect what runs
    drawing: object
    #: the fragments that nodes use, by name and version
    fragments: dict[str, FragmentDefinition]
