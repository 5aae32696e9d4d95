"""Serializers of simulations: input lines, and their results."""

from __future__ import annotations

from typing import Any

from millrace_backend.schema import CauseField, SentenceSerializer
from millrace_compiler.conditions import MOST
from rest_framework import serializers

from topologies.api.compile_serializers import ConditionSerializer, DiagnosticSerializer
from topologies.api.fields import DocumentField, EdgeSerializer
from topologies.choices import Cut, PlainVerdict, Ran, RecordDifference
from topologies.programs import LONGEST
from topologies.simulating import (
    MOST_BREAKPOINTS,
    MOST_INPUTS,
    MOST_PARTITIONS,
    MOST_PINS,
    MOST_SECONDS,
    MOST_SEEDS,
    MOST_STEPS,
)


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
    """Lines with breakpoints, by node."""

    def __init__(self, **more: Any) -> None:
        super().__init__(
            child=serializers.ListField(
                child=serializers.IntegerField(min_value=1), max_length=MOST_BREAKPOINTS
            ),
            help_text="Line numbers, starting at 1, in the code of Python processors, by node. The "
            "steps of the response show each stop.",
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
        help_text="Run only a part of the topology; neither with `expected` nor with `plain`.",
    )
    run = RunField()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Reject a part with expected results, or in plain Spark."""
        if attrs.get("part") is not None and (attrs.get("expected") or attrs.get("plain")):
            raise serializers.ValidationError(
                {"part": "A part runs neither with expected results nor in plain Spark."}
            )
        return attrs


class SimulatedOutputSerializer(serializers.Serializer[Any]):
    """A record written to a topic; `after` is the number of its input line, starting at 1."""

    after = serializers.IntegerField()
    topic = serializers.CharField()
    key = serializers.JSONField(allow_null=True)
    value = serializers.JSONField(allow_null=True)
    timestamp = serializers.IntegerField()
    headers = serializers.DictField(child=serializers.CharField(allow_null=True), required=False)


class NodeCountSerializer(serializers.Serializer[Any]):
    """Records that entered and left a node, and dropped records by reason."""

    out = serializers.IntegerField()
    dropped = serializers.DictField(child=serializers.IntegerField())

    def get_fields(self) -> dict[str, Any]:
        """Add ``in``, which is a keyword in Python."""
        return {"in": serializers.IntegerField(), **super().get_fields()}


class StepRecordSerializer(serializers.Serializer[Any]):
    """A record as it enters a node; `old` is the former value of a table's update."""

    key = serializers.JSONField(allow_null=True)
    value = serializers.JSONField(allow_null=True)
    old = serializers.JSONField(allow_null=True, required=False)
    timestamp = serializers.IntegerField()
    headers = serializers.DictField(child=serializers.CharField(allow_null=True))


class StoreRowSerializer(serializers.Serializer[Any]):
    """A row of a store; a row without a value was deleted or has expired."""

    key = serializers.JSONField(allow_null=True)
    value = serializers.JSONField(allow_null=True)
    timestamp = serializers.IntegerField(allow_null=True)
    tombstone = serializers.BooleanField(
        required=False,
        help_text="The row is a version without a value; it ends the previous version.",
    )


class LocalSerializer(serializers.Serializer[Any]):
    """A local variable, or an attribute of `self`; long values are truncated."""

    name = serializers.CharField()
    value = serializers.CharField()


class SimulationStepSerializer(serializers.Serializer[Any]):
    """One step of a simulation. Which fields it has depends on `event`."""

    seq = serializers.IntegerField()
    after = serializers.IntegerField(help_text="Number of its input line, starting at 1.")
    event = serializers.CharField(help_text="record, drop, end, store, punctuate, log or stop")
    node = serializers.CharField()
    task = serializers.CharField(required=False)
    stream_time = serializers.IntegerField(allow_null=True, required=False)
    port = serializers.CharField(allow_null=True, required=False)
    input = serializers.IntegerField(required=False, help_text="0: the first, or left, input.")
    edge = serializers.IntegerField(
        allow_null=True, required=False, help_text="The index of the document's edge."
    )
    inside = serializers.BooleanField(
        required=False,
        help_text="Whether the record was in the node before, and comes from another part of it.",
    )
    record = StepRecordSerializer(required=False)
    reason = serializers.CharField(required=False)
    dead_letter = serializers.BooleanField(required=False)
    window_start = serializers.IntegerField(required=False)
    window_end = serializers.IntegerField(required=False)
    closed_until = serializers.IntegerField(
        required=False, help_text="Windows that end before this time, in ms, are closed."
    )
    time = serializers.IntegerField(required=False)
    kept_from = serializers.IntegerField(required=False)
    store = serializers.CharField(required=False)
    row = StoreRowSerializer(required=False)
    clock = serializers.CharField(required=False)
    now = serializers.IntegerField(required=False)
    level = serializers.CharField(required=False, help_text="Of a printed line: info or warning.")
    message = serializers.CharField(required=False)
    line = serializers.IntegerField(required=False, help_text="Of a stop at a breakpoint.")
    function = serializers.CharField(required=False)
    locals = LocalSerializer(many=True, required=False)
    more_locals = serializers.BooleanField(
        required=False, help_text="Whether there are more local variables than are listed."
    )

    def get_fields(self) -> dict[str, Any]:
        """Add ``from``, a keyword in Python, and ``parent``, a name that fields already use."""
        parent = serializers.IntegerField(allow_null=True, help_text="The step that caused it.")
        origin = serializers.CharField(allow_null=True, required=False)
        return {"parent": parent, **super().get_fields(), "from": origin}


class SimulationLogSerializer(serializers.Serializer[Any]):
    """A line that a node printed."""

    after = serializers.IntegerField(
        help_text="Number of the input line that was being processed; 0 if there was none."
    )
    level = serializers.CharField()
    node = serializers.CharField()
    message = serializers.CharField()


class PlacedBreakpointSerializer(serializers.Serializer[Any]):
    """Where a breakpoint stops."""

    line = serializers.IntegerField(help_text="As requested.")
    at = serializers.IntegerField(
        allow_null=True,
        help_text="The line of the statement; null if no statement in a function follows.",
    )


class SimulationErrorSerializer(serializers.Serializer[Any]):
    """Why the job stopped, at the input line `after`."""

    kind = serializers.CharField()
    code = serializers.CharField(allow_null=True)
    message = serializers.CharField()
    facts = serializers.DictField(
        child=serializers.CharField(allow_blank=True),
        required=False,
        help_text="The values in the message, for translations.",
    )
    cause = CauseField(
        allow_null=True, required=False, help_text="The cause that the message quotes."
    )
    node = serializers.CharField(allow_null=True, required=False)
    parameter = serializers.CharField(allow_null=True, required=False)
    after = serializers.IntegerField()


class DifferenceSerializer(SentenceSerializer):
    """A difference from what was expected, with its message in English."""


class PartRanSerializer(serializers.Serializer[Any]):
    """The part that ran."""

    nodes = serializers.ListField(child=serializers.CharField())
    muted = serializers.DictField(
        child=serializers.BooleanField(),
        help_text="By muted node: whether records passed it, or stopped before it.",
    )


class SimulationResultSerializer(serializers.Serializer[Any]):
    """Results of the input lines."""

    outputs = SimulatedOutputSerializer(many=True)
    output_count = serializers.IntegerField()
    dropped = serializers.IntegerField()
    edges = serializers.ListField(
        child=serializers.IntegerField(), help_text="Records over each edge of the document."
    )
    nodes = serializers.DictField(child=NodeCountSerializer())
    stores = serializers.DictField(child=StoreRowSerializer(many=True))
    steps = SimulationStepSerializer(many=True)
    truncated = serializers.BooleanField(
        help_text="Whether there were more steps than are returned."
    )
    stops_truncated = serializers.BooleanField(
        help_text="Whether there were more stops at breakpoints than are returned."
    )
    stores_truncated = serializers.BooleanField(
        help_text="Whether the stores started with more rows than the steps contain."
    )
    breakpoints = serializers.DictField(child=PlacedBreakpointSerializer(many=True))
    logs = SimulationLogSerializer(many=True)
    error = SimulationErrorSerializer(allow_null=True)
    stopped_after = serializers.IntegerField(
        allow_null=True,
        help_text="Of a run that was canceled: the number of input lines that it processed. The "
        "results are those of these lines.",
    )
    differences = DifferenceSerializer(
        many=True,
        allow_null=True,
        help_text="Differences from the expected results; null without expected results.",
    )
    part = PartRanSerializer(
        required=False, allow_null=True, help_text="The part that ran; absent for all of it."
    )


class PlainOutputSerializer(SimulatedOutputSerializer):
    """A record of a comparison; `after` is missing where micro-batches have several lines."""

    after = serializers.IntegerField(required=False)


class PlainRowSerializer(serializers.Serializer[Any]):
    """A record of Kafka Streams, of plain Spark, or of both."""

    kafka_streams = PlainOutputSerializer(allow_null=True)
    spark = PlainOutputSerializer(allow_null=True)
    differs = serializers.ListField(
        child=serializers.ChoiceField(choices=RecordDifference.choices),
        help_text="order: another place in its micro-batch; input: caused by another input line; "
        "missing: only Kafka Streams writes it; extra: only plain Spark does.",
    )
    codes = serializers.ListField(
        child=serializers.CharField(), help_text="Codes of the diagnostics that explain it."
    )
    explained = serializers.BooleanField(help_text="Whether a diagnostic explains each difference.")


class PlainCountsSerializer(serializers.Serializer[Any]):
    """Records of a topic: equal, equal except for the timestamp, different, or of one side only."""

    equal = serializers.IntegerField()
    time = serializers.IntegerField()
    different = serializers.IntegerField()
    kafka_streams = serializers.IntegerField()
    spark = serializers.IntegerField()


class PlainTopicSerializer(serializers.Serializer[Any]):
    """The records of a topic on both sides; `sinks` are the nodes that write it."""

    topic = serializers.CharField()
    sinks = serializers.ListField(child=serializers.CharField())
    counts = PlainCountsSerializer()
    rows = PlainRowSerializer(many=True, help_text="The first 2,000; all of them are counted.")


class PlainDroppedSerializer(serializers.Serializer[Any]):
    """Counts of dropped records, and the codes that explain why they differ."""

    kafka_streams = serializers.IntegerField()
    spark = serializers.IntegerField()
    codes = serializers.ListField(child=serializers.CharField())


class PlainStopsSerializer(serializers.Serializer[Any]):
    """Why each side stopped, if it did."""

    kafka_streams = SimulationErrorSerializer(allow_null=True)
    spark = SimulationErrorSerializer(allow_null=True)


class PlainComparisonSerializer(serializers.Serializer[Any]):
    """The results of plain Spark beside those of Kafka Streams."""

    verdict = serializers.ChoiceField(
        choices=PlainVerdict.choices,
        help_text="predicted: diagnostics explain each difference; wrong: at least one has no "
        "diagnostic.",
    )
    unexplained = DifferenceSerializer(many=True, help_text="Differences without a diagnostic.")
    topics = PlainTopicSerializer(many=True)
    dropped = PlainDroppedSerializer()
    stopped = PlainStopsSerializer()
    seconds = serializers.FloatField()


class PlainSimulationSerializer(serializers.Serializer[Any]):
    """The run in plain Spark; without a comparison, plain Spark cannot express the topology."""

    cut = serializers.ChoiceField(choices=Cut.choices)
    diagnostics = DiagnosticSerializer(many=True)
    comparison = PlainComparisonSerializer(allow_null=True)


class SimulationSerializer(serializers.Serializer[Any]):
    """Diagnostics and result; without a result, the document was refused or has not run yet."""

    state = serializers.ChoiceField(
        choices=Ran.choices,
        help_text="starting: the simulator is starting; try again in a second.",
    )
    diagnostics = DiagnosticSerializer(many=True)
    result = SimulationResultSerializer(allow_null=True)
    plain = PlainSimulationSerializer(
        allow_null=True,
        help_text="Null unless it was requested, and if it was "
        "canceled before its first micro-batch ended.",
    )


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


class DifferingInputSerializer(serializers.Serializer[Any]):
    """An input on which two versions differ, with the outputs of each."""

    inputs = serializers.ListField(child=serializers.DictField(), help_text="Input lines.")
    topics = serializers.ListField(
        child=serializers.CharField(), help_text="Topics with different records."
    )
    old = serializers.ListField(child=serializers.DictField(), help_text="Output lines.")
    new = serializers.ListField(child=serializers.DictField(), help_text="Output lines.")
    old_stopped = serializers.IntegerField(
        allow_null=True, help_text="Number of the input line that stops the old version."
    )
    new_stopped = serializers.IntegerField(
        allow_null=True, help_text="Number of the input line that stops the new version."
    )


class SearchResultSerializer(serializers.Serializer[Any]):
    """What a search found, and how much it tried."""

    found = DifferingInputSerializer(
        allow_null=True, help_text="Null if the results are equal for all inputs."
    )
    inputs = serializers.IntegerField(help_text="Number of inputs that were tried.")
    seconds = serializers.FloatField()
    nodes = serializers.IntegerField(help_text="Number of nodes of both versions.")
    branches = serializers.IntegerField(
        help_text="What the nodes of both versions can do: a record enters it, one leaves it, its "
        "predicate is false."
    )
    covered = serializers.IntegerField(help_text="How many of them happened.")
    missed = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Nodes that no record reached, by version (old, new).",
    )
    only_old = serializers.ListField(
        child=serializers.CharField(), help_text="Topics that only the old version writes."
    )
    only_new = serializers.ListField(
        child=serializers.CharField(), help_text="Topics that only the new version writes."
    )


class SearchSerializer(serializers.Serializer[Any]):
    """Diagnostics and result of a search; without a result, a document was refused or nothing ran
    yet.
    """

    state = serializers.ChoiceField(
        choices=Ran.choices,
        help_text="starting: the simulator is starting; try again in a second.",
    )
    diagnostics = VersionDiagnosticSerializer(many=True)
    result = SearchResultSerializer(allow_null=True)


class ProgramSerializer(serializers.Serializer[Any]):
    """A Python program that builds a topology."""

    name = serializers.RegexField(
        r"^[\w. -]+\.py$", max_length=200, help_text="Name of its file, which errors mention."
    )
    program = serializers.CharField(
        max_length=LONGEST, trim_whitespace=False, help_text="The text of the file."
    )


class ProgramDocumentSerializer(serializers.Serializer[Any]):
    """The document of a program; null while the simulator that runs it is starting."""

    document = DocumentField(allow_null=True)


class SimulationProgressSerializer(serializers.Serializer[Any]):
    """The number of processed input lines, their total, and the records so far.

    `edges` and `nodes` are as in a result; they are missing while plain Spark runs.
    """

    done = serializers.IntegerField()
    lines = serializers.IntegerField()
    edges = serializers.ListField(child=serializers.IntegerField(), required=False)
    nodes = serializers.DictField(child=NodeCountSerializer(), required=False)


class SimulatorSerializer(serializers.Serializer[Any]):
    """Whether a simulation can start immediately, and the progress of a run of the user."""

    state = serializers.ChoiceField(choices=[("ready", "ready"), ("starting", "starting")])
    progress = SimulationProgressSerializer(allow_null=True)


class SampleInputsSerializer(serializers.Serializer[Any]):
    """Records for simulating a topology, as input lines."""

    inputs = serializers.ListField(child=serializers.DictField())
