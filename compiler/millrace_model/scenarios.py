"""Recorded scenarios and tests, their results, and comparisons of results."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from millrace_model.diagnostics import Announced, DiagnosticJson
from millrace_model.documents import TopologyDocument
from millrace_model.events import CauseFields, ErrorFields
from millrace_model.plans import InternalTopic, SubtopologyJson
from millrace_model.records import InputLine, LogLine, OutputLine, StoreEntry


class StoppedFields(ErrorFields):
    """Why the job stopped, at the input line `after`."""

    kind: str
    after: NotRequired[int]


class DifferenceJson(TypedDict):
    """A difference from what was expected, with its message in English."""

    code: str
    facts: Annotated[dict[str, str], "The values in the message, for translations."]
    message: str


class RefusedFields(TypedDict):
    """Why a document is refused: its first error, and all diagnostics."""

    kind: Literal["refused"]
    code: str
    node: str | None
    parameter: str | None
    message: str
    diagnostics: list[DiagnosticJson]


class TestResult(TypedDict):
    """The result of a test of a topology."""

    id: str
    title: str | None
    passed: bool
    differences: list[str]


class Answer(TypedDict, total=False):
    """The answer of a comparison with Kafka Streams: its differences, or why it failed."""

    differences: list[DifferenceJson]
    error: CauseFields


class Looked(TypedDict, total=False):
    """The answer of a comparison with Kafka Streams, or until then what it is doing."""

    answer: Answer
    doing: str


class Verification(TypedDict):
    """The progress of a comparison with Kafka Streams, and the differences."""

    id: str
    workspace: int
    state: str
    doing: str | None
    differences: Annotated[
        list[DifferenceJson] | None,
        "Differences from Kafka Streams; empty if the results are equal. Null until the "
        "comparison ends.",
    ]
    error: Annotated[CauseFields | None, "Why it could not be compared."]


class Conditioned(TypedDict, total=False):
    """A condition of a test on the records of a topic or the rows of a store."""

    topic: str
    store: str
    predicate: str
    records: str | int


class Described(TypedDict, total=False):
    """Sub-topologies and internal topics, of a scenario that compares descriptions."""

    subtopologies: list[SubtopologyJson]
    internal_topics: list[InternalTopic]


class ScenarioResult(Described, total=False):
    """The results of a scenario, in the form of a result file."""

    id: str
    outputs: list[OutputLine]
    stores: dict[str, list[StoreEntry]]
    dropped: int | None
    #: why the document is refused, or a record stopped it
    error: Any
    logs: list[LogLine]
    #: announced by the plain dialect
    differences: list[Announced]


class Expected(ScenarioResult, total=False):
    """What a test expects; only what is stated is compared."""

    conditions: list[Conditioned]


class Scenario(TypedDict, total=False):
    """A document with input lines and their results: a recorded scenario, or a test."""

    id: str
    name: str
    description: str
    title: str
    #: how results are compared (`millrace_runtime.results.comparing`), and for which cuts
    compare: str
    cuts: list[str]
    #: classes of Kafka Streams' own that take the place of processors, by node
    oracle_processors: dict[str, str]
    topology: Required[TopologyDocument]
    inputs: Required[list[InputLine]]
    expected: Expected
    #: results of Millrace, to be compared with those of Kafka Streams
    found: ScenarioResult
    #: differences that were found only beside other scenarios
    beside: list[str]
