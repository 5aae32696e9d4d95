"""Serializers of simulations: input lines, and their results."""

from __future__ import annotations

import re
from typing import Any

from millrace_backend.schema import CauseField
from millrace_backend.shapes import ShapeSerializer, serializer_of
from millrace_compiler.compilation.conditions import MOST
from millrace_model.records import LogLine, OutputLine
from millrace_model.scenarios import DifferenceJson, StoppedFields
from millrace_model.simulations import (
    BothDropped,
    BothStopped,
    Breakpoint,
    DifferingInput,
    PlainComparison,
    PlainResult,
    PlainRow,
    Prepared,
    ProgramRead,
    SearchResult,
    Simulated,
    SimulationResult,
)
from millrace_model.traces import NodeCounts, RunProgress, StoreRow, TraceStep
from rest_framework import serializers

from topologies.api.compile_serializers import ConditionSerializer, DiagnosticSerializer
from topologies.api.fields import DocumentField, EdgeSerializer
from topologies.choices import Cut, PlainVerdict, Ran, RecordDifference
from topologies.programs import LONGEST, LONGEST_FILES, MOST_FILES
from topologies.simulating import (
    MOST_BREAKPOINTS,
    MOST_INPUTS,
    MOST_PARTITIONS,
    MOST_PINS,
    MOST_SECONDS,
    MOST_SEEDS,
    MOST_STEPS,
)

#: the path of a module beside a program
_MODULE = re.compile(r"(?!\d)\w+(/(?!\d)\w+)*\.py")


class ExpectedOutputSerializer(serializers.Serializer[Any]):
    """An expected record of a topic.

    `after` and `timestamp` are compared only if every expected record states them.
    """

    topic = serializers.CharField()
    key = serializers.JSONField(allow_null=True, default=None)
    value = serializers.JSONField(allow_null=True, default=None)
    timestamp = serializers.IntegerField(required=False)
    after = serializers.IntegerField(required=False, min_value=1)
    headers = serializers.DictField(
        child=serializers.CharField(allow_null=True, allow_blank=True), required=False
    )


class ExpectedRowSerializer(serializers.Serializer[Any]):
    """An expected row of a store; the key of a window store contains the window."""

    key = serializers.JSONField(allow_null=True)
    value = serializers.JSONField(allow_null=True, default=None)
    timestamp = serializers.IntegerField(allow_null=True, required=False)


class ExpectedConditionSerializer(ConditionSerializer):
    """A condition of a stored test."""

    predicate = serializers.CharField(max_length=10_000)


class ExpectedSerializer(serializers.Serializer[Any]):
    """Expected results of a test; omitted parts are not compared."""

    outputs = ExpectedOutputSerializer(many=True, required=False)
    stores = serializers.DictField(child=ExpectedRowSerializer(many=True), required=False)
    dropped = serializers.IntegerField(required=False, min_value=0)
    conditions = serializers.ListField(
        child=ExpectedConditionSerializer(),
        required=False,
        max_length=MOST,
        help_text="Predicates over records of a topic or rows of a store. Records of a topic that "
        "has a condition are compared with `outputs` only if one of these has that topic.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Reject a test that expects nothing, because it would always pass."""
        if not any(name != "conditions" or part for name, part in attrs.items()):
            raise serializers.ValidationError(
                "Set at least one of outputs, stores, dropped records and conditions."
            )
        return attrs


class BreakpointsField(serializers.DictField):
    """Lines with breakpoints, by place."""

    def __init__(self, **more: Any) -> None:
        super().__init__(
            child=serializers.ListField(
                child=serializers.IntegerField(min_value=1), max_length=MOST_BREAKPOINTS
            ),
            help_text="Line numbers, starting at 1, in Python code: of processors and functions "
            "of windows by node, of handlers and modules by setting "
            "(`settings.processing_function`, `settings.modules.prices.discount`). The steps of "
            "the response show each stop.",
            **more,
        )


class PartitionsField(serializers.DictField):
    """Number of partitions, by topic."""

    def __init__(self, **more: Any) -> None:
        super().__init__(
            child=serializers.IntegerField(min_value=1, max_value=MOST_PARTITIONS),
            help_text="Number of partitions by topic, in place of the document's.",
            **more,
        )


class RunField(serializers.CharField):
    """A name of a run, chosen by the client."""

    def __init__(self, **more: Any) -> None:
        super().__init__(
            max_length=64,
            required=False,
            help_text="A name chosen by the client, to request the progress of the run or to "
            "stop it.",
            **more,
        )


class SimulatorQuerySerializer(serializers.Serializer[Any]):
    """Which of the user's runs is meant."""

    run = RunField()


class NodeDoubleRowSerializer(serializers.Serializer[Any]):
    """What a double gives for records that match; the first row that matches counts."""

    when = serializers.CharField(
        required=False, max_length=10_000, help_text="A predicate; all records unless stated."
    )
    key = serializers.CharField(
        required=False,
        max_length=10_000,
        help_text="An expression; the key of the record unless stated.",
    )
    value = serializers.CharField(
        required=False,
        max_length=10_000,
        help_text="An expression; without it, the double gives no record.",
    )


class NodeDoubleSerializer(serializers.Serializer[Any]):
    """A table of answers that runs in place of a node."""

    node = serializers.CharField()
    rows = serializers.ListField(
        child=NodeDoubleRowSerializer(), required=False, max_length=MOST_PINS
    )
    passes = serializers.BooleanField(
        required=False, help_text="Whether records that match no row pass; otherwise they stop."
    )


class PartSerializer(serializers.Serializer[Any]):
    """A part of a topology that is to run alone.

    It has the nodes that follow a pinned edge, or only the node `to`, and what these need. Nothing
    before a pinned edge runs for it.
    """

    pins = serializers.ListField(
        child=EdgeSerializer(),
        required=False,
        max_length=MOST_PINS,
        help_text="Edges whose records are among the inputs, with `edge` in place of `topic`.",
    )
    to = serializers.CharField(
        required=False, allow_null=True, help_text="The last node; others do not run after it."
    )
    muted = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        max_length=MOST_PINS,
        help_text="Nodes that do nothing: records pass unchanged where they have the type that the "
        "node gives, and otherwise stop before it.",
    )
    doubles = serializers.ListField(
        child=NodeDoubleSerializer(),
        required=False,
        max_length=MOST_PINS,
        help_text="Tables of answers that run in place of nodes, which must be ones from a stream "
        "to a stream.",
    )


class SimulationRequestSerializer(serializers.Serializer[Any]):
    """A document, saved or not, and the input lines in order."""

    document = DocumentField()
    inputs = serializers.ListField(
        child=serializers.JSONField(),
        max_length=MOST_INPUTS,
        help_text='{"topic", "key", "value", "timestamp" (ms), "partition", '
        '"headers"}: a record; {"advance_wall_clock": ms}: advances the wall clock. With `part`, '
        '{"edge": {"source", "target", …}, "key", …}: a record on a pinned edge.',
    )
    steps = serializers.IntegerField(
        min_value=0,
        max_value=MOST_STEPS,
        default=MOST_STEPS,
        required=False,
        help_text="Maximum number of steps in the response; all records are counted.",
    )
    expected = ExpectedSerializer(
        required=False,
        help_text="Expected results; the response lists the differences, as for a test.",
    )
    breakpoints = BreakpointsField(required=False)
    partitions = PartitionsField(required=False)
    plain = serializers.ChoiceField(
        choices=Cut.choices,
        required=False,
        allow_null=True,
        help_text="Run the same input lines in plain Spark too, which takes seconds: in a "
        "micro-batch for each line, or in as few as possible.",
    )
    part = PartSerializer(
        required=False,
        allow_null=True,
        help_text="Run only a part of the topology; not with `plain`, and with `expected` only if "
        "it has nothing but doubles.",
    )
    run = RunField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Reject a part in plain Spark, or with expected results of the whole."""
        part = attrs.get("part")
        cut = part is not None and any(part.get(name) for name in ("pins", "to", "muted"))
        if part is not None and (attrs.get("plain") or (cut and attrs.get("expected"))):
            raise serializers.ValidationError(
                {"part": "A part runs neither with expected results nor in plain Spark."}
            )
        return attrs


class SimulatedOutputSerializer(ShapeSerializer):
    """A record written to a topic; `after` is the number of its input line, starting at 1."""

    shape = OutputLine
    present = ("after", "key", "value", "timestamp")
    absent = ("partition",)


class PlainOutputSerializer(SimulatedOutputSerializer):
    """A record of a comparison; `after` is missing where micro-batches have several lines."""

    after = serializers.IntegerField(required=False)


class SimulationErrorSerializer(ShapeSerializer):
    """Why the job stopped, at the input line `after`."""

    shape = StoppedFields
    present = ("after",)
    absent = ("exception", "record")

    code = serializers.CharField(allow_null=True)
    cause = CauseField(
        allow_null=True, required=False, help_text="The cause that the message quotes."
    )


serializer_of(DifferenceJson)
serializer_of(
    NodeCounts, "NodeCount", "Records that entered and left a node, and dropped records by reason."
)
serializer_of(
    TraceStep, "SimulationStep", "One step of a simulation. Which fields it has depends on `event`."
)
serializer_of(LogLine, "SimulationLog")
serializer_of(Breakpoint, "PlacedBreakpoint")


class SimulationResultSerializer(ShapeSerializer):
    """Results of the input lines."""

    shape = SimulationResult
    present = ("breakpoints", "differences")

    outputs = SimulatedOutputSerializer(many=True)
    stores = serializers.DictField(child=serializer_of(StoreRow)(many=True))


class PlainRowSerializer(ShapeSerializer):
    """A record of Kafka Streams, of plain Spark, or of both."""

    shape = PlainRow
    choices = {"differs": RecordDifference}

    kafka_streams = PlainOutputSerializer(allow_null=True)
    spark = PlainOutputSerializer(allow_null=True)


serializer_of(BothDropped, "PlainDropped")
serializer_of(BothStopped, "PlainStops")


class PlainComparisonSerializer(ShapeSerializer):
    """The results of plain Spark beside those of Kafka Streams."""

    shape = PlainComparison
    present = ("seconds",)
    choices = {"verdict": PlainVerdict}


class PlainSimulationSerializer(ShapeSerializer):
    """The run in plain Spark; without a comparison, plain Spark cannot express the topology."""

    shape = PlainResult
    choices = {"cut": Cut}


class SimulationSerializer(ShapeSerializer):
    """Diagnostics and result; without a result, the document was refused or has not run yet."""

    shape = Simulated
    choices = {"state": Ran}


class SearchRequestSerializer(serializers.Serializer[Any]):
    """Two documents, saved or not, and inputs to begin with."""

    old = DocumentField()
    new = DocumentField()
    inputs = serializers.ListField(
        child=serializers.ListField(child=serializers.JSONField(), max_length=MOST_INPUTS),
        max_length=MOST_SEEDS,
        default=list,
        required=False,
        help_text="Lists of input lines that are tried first, such as those of tests.",
    )
    seconds = serializers.FloatField(
        min_value=0.1,
        max_value=MOST_SECONDS,
        default=20.0,
        required=False,
        help_text="Maximum duration of the search; reducing what it finds takes longer.",
    )
    run = RunField()


class VersionDiagnosticSerializer(DiagnosticSerializer):
    """A diagnostic of one of two documents."""

    version = serializers.ChoiceField(choices=[("old", "old"), ("new", "new")])


class DifferingInputSerializer(ShapeSerializer):
    """An input on which two versions differ, with the outputs of each."""

    shape = DifferingInput

    inputs = serializers.ListField(child=serializers.DictField(), help_text="Input lines.")
    old = serializers.ListField(child=serializers.DictField(), help_text="Output lines.")
    new = serializers.ListField(child=serializers.DictField(), help_text="Output lines.")


class SearchSerializer(serializers.Serializer[Any]):
    """Diagnostics and result of a search; without a result, a document was refused or nothing ran
    yet.
    """

    state = serializers.ChoiceField(
        choices=Ran.choices,
        help_text="starting: the simulator is starting; try again in a second.",
    )
    diagnostics = VersionDiagnosticSerializer(many=True)
    result = serializer_of(SearchResult)(allow_null=True)


class ProgramSerializer(serializers.Serializer[Any]):
    """A Python program that builds a topology."""

    name = serializers.RegexField(
        r"^[\w. -]+\.py$", max_length=200, help_text="Name of its file, which errors mention."
    )
    program = serializers.CharField(
        max_length=LONGEST, trim_whitespace=False, help_text="The text of the file."
    )
    run = serializers.CharField(
        required=False, max_length=100,
        help_text="A name of your own for this reading. It ends your earlier one of this name, "
        "whose problem is simulation_cancelled.",
    )  # fmt: skip
    files = serializers.DictField(
        child=serializers.CharField(allow_blank=True, max_length=LONGEST, trim_whitespace=False),
        required=False,
        help_text="Texts of the modules beside the program, by path (prices/discount.py).",
    )

    def validate_files(self, files: dict[str, str]) -> dict[str, str]:
        """Refuse paths that are no Python files beside the program, and too many of them."""
        wrong = next((path for path in files if not _MODULE.fullmatch(path)), None)
        if wrong is not None:
            raise serializers.ValidationError(f"{wrong!r} is not the path of a Python module.")
        if len(files) > MOST_FILES or sum(map(len, files.values())) > LONGEST_FILES:
            raise serializers.ValidationError(
                f"A program has up to {MOST_FILES} modules with {LONGEST_FILES} characters."
            )
        return files


class ProgramReadSerializer(ShapeSerializer):
    """The document of a program, or why it has none. One of them is null."""

    shape = ProgramRead
    document = DocumentField(allow_null=True)


serializer_of(RunProgress, "SimulationProgress")
SimulatorSerializer = serializer_of(Prepared, "Simulator")


class SampleInputsSerializer(serializers.Serializer[Any]):
    """Records for simulating a topology, as input lines."""

    inputs = serializers.ListField(child=serializers.DictField())
