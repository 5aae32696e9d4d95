"""The topology document, as its JSON.

These are the shapes of a document that was read by :mod:`millrace_compiler.documents.document` or
written by this version. One from outside may be anything until the compiler has read it.
"""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, Required, TypeAlias, TypedDict

#: Parameters of a node by name. Its operator declares them, with their types.
Params: TypeAlias = dict[str, Any]

#: kinds of a node that stands for a fragment, and of the ports in its definition
FRAGMENT, INPUT, OUTPUT = "fragment", "fragment.input", "fragment.output"


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
    """The position of a node on the canvas."""

    x: float
    y: float


class DocumentNode(TypedDict):
    """A node of the document."""

    id: str
    kind: str
    params: NotRequired[Params]
    label: NotRequired[str | None]
    description: NotRequired[str | None]
    position: NotRequired[Position]


class DocumentEdge(TypedDict):
    """An edge of the document."""

    #: the ports are `out` and `in` unless stated

    source: str
    target: str
    source_port: NotRequired[str | None]
    target_port: NotRequired[str | None]


class TopicSettings(TypedDict, total=False):
    """A topic's settings as the document declares them."""

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
    default: Annotated[str | int | float | bool, "The value elsewhere, and in simulations."]
    values: Annotated[dict[str, object], "Values in the environments dev, test and prod."]
    description: str


_FAMILY = "A family of operators, such as join."


class Group(TypedDict, total=False):
    """A frame around nodes of the drawing. It contains the groups that name it as their parent."""

    id: Required[str]
    title: str
    color: Annotated[str, _FAMILY]
    parent: str
    nodes: list[str]
    collapsed: Annotated[bool, "Drawn as a single box."]


class Note(TypedDict, total=False):
    """A note on the drawing."""

    id: Required[str]
    text: Annotated[str, "Markdown."]
    position: Position
    width: float
    height: float
    color: Annotated[str, _FAMILY]


class PinnedRecord(TypedDict, total=False):
    """A record on an edge."""

    key: Required[Any]
    value: Required[Any]
    timestamp: Annotated[int, "In ms; 0 unless stated."]
    partition: int
    headers: dict[str, str | None]


class Pin(DocumentEdge):
    """Records that stand for everything before an edge in a simulation."""

    records: list[PinnedRecord]


class DoubleRow(TypedDict, total=False):
    """What a double gives for records that match."""

    when: Annotated[str, "A predicate over key and value; all records unless stated."]
    key: Annotated[str, "An expression; the key of the record unless stated."]
    value: Annotated[str, "An expression; without it, the double gives no record."]


class Double(TypedDict, total=False):
    """A table of answers that stands for a node in simulations and tests."""

    node: Required[str]
    rows: Annotated[list[DoubleRow], "The first one that matches counts."]
    passes: Annotated[bool, "Whether records that match no row pass; otherwise they stop."]


class Bend(DocumentEdge):
    """The points through which an edge is drawn, from its source to its target."""

    points: list[Position]


class Drawing(TypedDict, total=False):
    """Groups, notes, and what is set up for simulations. They never affect what is deployed."""

    groups: list[Group]
    notes: list[Note]
    bends: list[Bend]
    pins: list[Pin]
    muted: Annotated[list[str], "Nodes that do nothing in simulations."]
    doubles: list[Double]
    program: Annotated[
        dict[str, str], "The files of the program as somebody wrote them, with their comments."
    ]


class FragmentDefinition(TypedDict, total=False):
    """A version of a fragment: a part of a document, whose ports are nodes."""

    description: str
    parameters: dict[str, DocumentParameter]
    nodes: Required[list[DocumentNode]]
    edges: Required[list[DocumentEdge]]
    drawing: Drawing


class TopologyDocument(TypedDict, total=False):
    """A topology document, format millrace.topology/1. Unknown fields are preserved."""

    format: str
    name: str
    description: str | None
    settings: DocumentSettings
    topics: dict[str, TopicSettings]
    parameters: dict[str, DocumentParameter]
    nodes: Required[list[DocumentNode]]
    edges: Required[list[DocumentEdge]]
    drawing: Drawing
    fragments: Annotated[dict[str, FragmentDefinition], "By name and version."]
