"""The process that runs simulations; `millrace_runtime.counterexamples.starting` starts it.

It reads requests from standard input and writes responses to standard output, as the compiler's
processes do (`millrace_services.frames`); the first response says that its session is
warm. A request has `document`, `inputs` (input lines, see docs) and `trace` (steps to keep).
Optional are `expected` (of a test), `breakpoints` (lines by node), `partitions` (their number by
topic, instead of the document's), `part` (of the topology that runs alone, see
`millrace_compiler.compilation.running_part`; records on its pinned edges are lines with an `edge`
in place of a topic), `begins` (state of tasks instead of empty stores, see
`millrace_runtime.stores.task_states`) and `plain`, which also runs the lines on plain Spark: `each`
(a micro-batch for each line) or `all` (as few as possible).

A request to `encode` has a `format` and `texts` (`millrace_runtime.simulator.encoding`).

While a request is processed, frames of progress precede its response. SIGUSR1 stops the run,
including that of plain Spark: the response then covers the input lines before, with their number
as `stopped_after`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from millrace_compiler import Analyzer, DocumentError, Refused, compile_document
from millrace_compiler.graphs.fragments import resolved
from millrace_compiler.graphs.kinds import python_kinds
from millrace_compiler.parameters.settings import handler_functions
from millrace_model.documents import TopologyDocument
from millrace_model.graphs import TaskGraph
from millrace_model.records import EncodeRequest, InputLine
from millrace_model.scenarios import Scenario, ScenarioResult
from millrace_model.simulations import (
    Answered,
    Breakpoint,
    PlainResult,
    Reported,
    SimulationAnswer,
    SimulationRequest,
    SimulationResult,
)
from millrace_model.traces import RunProgress
from millrace_services import frames
from pyspark.sql import SparkSession

from millrace_runtime.analyzer.compiling import session_analyzer
from millrace_runtime.errors import MillraceError
from millrace_runtime.job.explaining import explain
from millrace_runtime.plain.comparing import beside
from millrace_runtime.plain.simulation import PlainSimulator, topology_of
from millrace_runtime.processor.breakpoints import place
from millrace_runtime.reports.trace import Edges, Trace, counts_of
from millrace_runtime.results.cuts import Cut
from millrace_runtime.results.differences import Difference
from millrace_runtime.results.input_lines import checked_line
from millrace_runtime.results.results import Result
from millrace_runtime.session.early import EarlySession
from millrace_runtime.session.simulation import simulation_session
from millrace_runtime.simulator.encoding import encode
from millrace_runtime.simulator.expectations import Expectations
from millrace_runtime.simulator.fragments import Fragments
from millrace_runtime.simulator.memory import TraceLimits
from millrace_runtime.simulator.running_part import RunningPart
from millrace_runtime.simulator.simulation import Simulator
from millrace_runtime.simulator.unbatched import UnbatchedSimulator
from millrace_runtime.stores.task_states import Begun

#: maximum number of outputs in a response; all are counted
MOST_OUTPUTS = 5_000
#: maximum number of differences in a response from what a test expects
MOST_DIFFERENCES = 50
#: seconds between two reports of progress, and between two checks for a request to stop
REPORTED = 0.25

_WARM_UP: TopologyDocument = {
    "format": "millrace.topology/1",
    "name": "warm-up",
    "nodes": [
        {"id": "in", "kind": "source.stream",
         "params": {"topics": ["in"], "key": {"format": "string"}, "value": {"format": "string"}}},
        {"id": "count", "kind": "count", "params": {"group_by": {"key": "value"}}},
        {"id": "rows", "kind": "to_stream", "params": {}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
    ],
    "edges": [
        {"source": "in", "target": "count"},
        {"source": "count", "target": "rows"},
        {"source": "rows", "target": "out"},
    ],
}  # fmt: skip


#: Called with the number of input lines that are `done` and of all `lines` and, except for plain
#: Spark, with counts by edge and node and the number of dropped records.
Progress = Callable[[RunProgress], None]
#: Returns the response to a request, reports its progress, and returns early once the event is set.
Handler = Callable[[SparkSession, Analyzer, Any, Progress | None, threading.Event | None], Any]


class Watch:
    """Reports the progress of a simulator while it runs, and stops it on request.

    Its thread calls the JVM concurrently with the simulator's thread.
    """

    def __init__(
        self,
        document: TopologyDocument,
        lines: int,
        progress: Progress,
        stop: threading.Event,
    ) -> None:
        self._document, self._lines = document, lines
        self._progress, self._stop = progress, stop
        self._ended = threading.Event()

    @contextlib.contextmanager
    def over(self, simulator: Simulator) -> Iterator[None]:
        """Watch a simulator while the block runs."""
        self._ended.clear()
        thread = threading.Thread(target=self._watch, args=(simulator,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def _watch(self, simulator: Simulator) -> None:
        stopped = False
        while not self._ended.wait(REPORTED):
            # The run may end meanwhile, which deletes its data.
            with contextlib.suppress(Exception):
                if self._stop.is_set() and not stopped:
                    simulator.stop()
                    stopped = True
                self._report(simulator)

    def _report(self, simulator: Simulator) -> None:
        found = simulator.progress()
        counts = counts_of(self._document, found.counts, found.figures)
        if not self._ended.is_set():
            self._progress({"done": found.done, "lines": self._lines, **counts})


def simulate(
    spark: SparkSession,
    analyzer: Analyzer,
    request: SimulationRequest,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> SimulationAnswer:
    """Compile and run a document on input lines: `{"diagnostics", "result", "plain"}`.

    If the document is refused, `result` is None. `stop`: set from outside to end the run early.
    Raises MillraceError for invalid input lines.
    """
    whole = partitioned(resolved(request["document"]), request.get("partitions") or {})
    fragments = Fragments(request["document"])
    if fragments and progress is not None:
        progress = fragments.reporting(progress)
    part, document, breakpoints = None, whole, request.get("breakpoints") or {}
    try:
        compilation = compile_document(whole, analyzer)
        if request.get("part") is not None:
            part = RunningPart(compilation, whole, request["part"] or {}, fragments)
            document = part.document
            breakpoints = {
                place: found
                for place, found in breakpoints.items()
                if place.startswith("settings.") or part.runs(place)
            }
            progress = None if progress is None else part.reporting(progress)
            compilation = compile_document(document, analyzer, ports=part.ports)
    except (DocumentError, Refused) as refused:
        found = [each.to_json() for each in refused.diagnostics]
        return {"diagnostics": found, "result": None, "plain": None}
    diagnostics = [each.to_json() for each in compilation.diagnostics]
    if part is not None:
        diagnostics = part.diagnostics(diagnostics)
    if fragments:
        diagnostics = fragments.diagnostics(diagnostics)
    if not compilation.ok or compilation.task_graph is None:
        return {"diagnostics": diagnostics, "result": None, "plain": None}
    inputs: list[Any] = list(request["inputs"])
    given = inputs if part is None else part.lines(inputs)
    lines = [checked_line(line, f"Input {number}") for number, line in enumerate(given, 1)]
    stops = placed(document, breakpoints)
    limits = TraceLimits(
        steps=int(request["trace"]),
        breakpoints={
            node: sorted({each["at"] for each in found if each["at"] is not None})
            for node, found in stops.items()
        },
    )
    expected = request.get("expected")
    expects = None if expected is None else Expectations(spark, analyzer, compilation, expected)
    begins = request.get("begins")
    begun = None if begins is None else Begun(begins)
    watch = None
    if progress is not None and stop is not None:
        watch = Watch(document, len(lines), progress, stop)
    graph = compilation.task_graph
    result = run(spark, document, graph, lines, limits, begun=begun, watch=watch)
    cut, plain = request.get("plain"), None
    if cut is not None and result.stopped_after is None:
        plain, done = run_plain(
            spark, analyzer, document, graph, lines, result, cut, progress, stop
        )
        if done is not None:
            result = run(spark, document, graph, lines[:done], limits, begun=begun)
            result.stopped_after = done
    if result.stopped_after is not None and expects is not None:
        raise MillraceError("simulation_cancelled", "The simulation was canceled.")
    differences = None
    if expects is not None:
        differences = [each.to_json() for each in differing(expects, document, lines, result)]
    answer = shown(document, result)
    if part is not None:
        part.show(answer)
    if fragments:
        fragments.show(answer)
    answer["differences"], answer["breakpoints"] = differences, stops
    return {"diagnostics": diagnostics, "result": answer, "plain": plain}


def run_plain(
    spark: SparkSession,
    analyzer: Analyzer,
    document: TopologyDocument,
    graph: TaskGraph,
    lines: list[InputLine],
    result: Result,
    cut: Literal["each", "all"],
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> tuple[PlainResult | None, int | None]:
    """Compare plain Spark with Kafka Streams, or return why it cannot run the document.

    `result`: of Kafka Streams with a micro-batch for each line. If the run is stopped, return the
    comparison of the lines before (None without any) and their number. Raises MillraceError.
    """
    compilation = compile_document(document, analyzer, dialect="plain")
    diagnostics = [each.to_json() for each in compilation.diagnostics]
    if not compilation.ok:
        return {"cut": cut, "diagnostics": diagnostics, "comparison": None}, None
    began = time.monotonic()
    try:
        with apart(spark):
            simulator = PlainSimulator(
                spark.newSession(), topology_of(compilation), compilation, Cut(cut)
            )
            plain = simulator.run(lines, None if progress is None else _of_plain(progress), stop)
    except MillraceError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever Spark raises is explained
        raise explain(error) from None
    seconds = round(time.monotonic() - began, 2)
    done = plain.stopped_after
    if done == 0:
        return None, done
    if cut != "each" or done is not None:
        result = run(spark, document, graph, lines[:done], None, Cut(cut))
    comparison = beside(compilation, result, plain, cut)
    comparison["seconds"] = seconds
    return {"cut": cut, "diagnostics": diagnostics, "comparison": comparison}, done


def _of_plain(progress: Progress) -> Callable[[int, int], None]:
    return lambda done, lines: progress({"done": done, "lines": lines})


@contextlib.contextmanager
def apart(spark: SparkSession) -> Iterator[None]:
    """Let a plain run leave nothing behind: no open state store, and nothing in the log.

    Spark writes the output of Python workers to Java's standard error; the log has its own stream.
    """
    jvm: Any = spark._jvm
    errors = jvm.java.lang.System.err
    jvm.java.lang.System.setErr(
        jvm.java.io.PrintStream(jvm.java.io.OutputStream.nullOutputStream())
    )
    try:
        yield
    finally:
        jvm.java.lang.System.setErr(errors)
        jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()


def partitioned(document: TopologyDocument, partitions: Mapping[str, int]) -> TopologyDocument:
    """Return the document with other numbers of partitions for some topics."""
    topics = dict(document.get("topics") or {})
    for name, number in partitions.items():
        topics[name] = {**topics.get(name, {}), "partitions": number}
    changed = document.copy()
    if topics:
        changed["topics"] = topics
    return changed


def placed(
    document: TopologyDocument, breakpoints: Mapping[str, list[int]]
) -> dict[str, list[Breakpoint]]:
    """Return where breakpoints stop, by place: requested `line`, `at` of the statement or None.

    A place is a node (its code, or the function of its windows), a handler
    (`settings.processing_function`) or a module (`settings.modules.prices`). Raises MillraceError
    `breakpoint_invalid` for one without Python.
    """
    codes = {
        node["id"]: str((node.get("params") or {}).get("code") or "")
        for node in document["nodes"]
        if node["kind"] in python_kinds()
    }
    for node in document["nodes"]:
        window = (node.get("params") or {}).get("window")
        if isinstance(window, dict) and window.get("type") == "custom":
            codes[node["id"]] = str(window.get("code") or "")
    settings = document.get("settings") or {}
    modules = settings.get("modules") or {}
    codes |= {f"settings.modules.{name}": code for name, code in modules.items()}
    codes |= {
        f"settings.{kind}_function": each["code"]
        for kind, each in handler_functions(settings).items()
    }
    for asked in breakpoints:
        if asked not in codes:
            raise MillraceError(
                "breakpoint_invalid",
                f"A breakpoint is set in {asked}, which is no Python processor, function of "
                "windows, handler or module of the topology.",
            )
    return {
        asked: [{"line": line, "at": place(codes[asked], line)} for line in lines]
        for asked, lines in breakpoints.items()
    }


def differing(
    expects: Expectations,
    document: TopologyDocument,
    lines: list[InputLine],
    result: Result,
) -> list[Difference]:
    """Return the first differences from what a test expects."""
    test: Scenario = {"topology": document, "inputs": lines}
    found: ScenarioResult = {
        "outputs": result.outputs,
        "dropped": result.dropped,
        "stores": result.stores,
    }
    if result.error:
        found["error"] = result.error
    return expects.differences(test, found)[:MOST_DIFFERENCES]


def run(
    spark: SparkSession,
    document: TopologyDocument,
    graph: TaskGraph,
    lines: list[InputLine],
    limits: TraceLimits | None,
    cut: Cut | None = None,
    begun: Begun | None = None,
    watch: Watch | None = None,
) -> Result:
    """Run a task graph on input lines, without micro-batches if possible.

    `limits`: of the trace; None for no trace. `begun`: the state with which the tasks begin.
    Raises MillraceError.
    """
    if begun is not None:
        begun.require(graph)

    def with_(simulator: type[Simulator]) -> Result:
        made = simulator(
            spark.newSession(),
            graph,
            partitions={
                name: int(topic.get("partitions", 1))
                for name, topic in (document.get("topics") or {}).items()
            },
            cut=cut,
            trace=limits,
            begun=begun,
        )
        with contextlib.nullcontext() if watch is None else watch.over(made):
            return made.run(lines)

    try:
        if any("restart" in line for line in lines):
            return with_(Simulator)
        try:
            return with_(UnbatchedSimulator)
        except MillraceError as error:
            if error.code != "reads_its_own":
                raise
            if begun is not None:
                raise MillraceError(
                    "state_not_loaded",
                    f"{error.message} Such a topology can be simulated only with empty stores.",
                ) from None
            return with_(Simulator)
    except MillraceError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever Spark raises is explained
        raise explain(error) from None


def shown(document: TopologyDocument, result: Result) -> SimulationResult:
    """Return what the page needs: outputs, counts by edge and node, the trace, stores."""
    edges = Edges(document)
    trace = result.trace or Trace(
        steps=[], truncated=False, stops_truncated=False, stores_truncated=False, counts=[]
    )
    counts = counts_of(document, trace["counts"], result.figures)
    for step in trace["steps"]:
        if step["event"] == "record":
            step["edge"] = edges.find(step["from"], step["port"], step["node"], step["input"])
    return {
        "outputs": result.outputs[:MOST_OUTPUTS],
        "output_count": len(result.outputs),
        "dropped": result.dropped,
        "edges": counts["edges"],
        "nodes": counts["nodes"],
        "stores": result.stores,
        "steps": trace["steps"],
        "truncated": trace["truncated"],
        "stops_truncated": trace["stops_truncated"],
        "stores_truncated": trace["stores_truncated"],
        "logs": result.logs,
        "failures": result.failures[:MOST_OUTPUTS],
        "error": result.error,
        "stopped_after": result.stopped_after,
    }


def answer(
    spark: SparkSession,
    analyzer: Analyzer,
    request: SimulationRequest | EncodeRequest,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    handlers: Mapping[str, Handler] | None = None,
) -> Answered:
    """Return a frame with the response to a request, or with the error."""
    try:
        if request["do"] == "encode":
            return {"answer": encode(spark, request)}
        if handlers is not None and request["do"] in handlers:
            return {"answer": handlers[request["do"]](spark, analyzer, request, progress, stop)}
        return {"answer": simulate(spark, analyzer, request, progress, stop)}
    except MillraceError as error:
        return {"answer": {"error": error.as_dict()}}


def serve(
    jvm: EarlySession | None, descriptor: int, handlers: Mapping[str, Handler] | None = None
) -> int:
    """Handle requests until standard input ends, with responses to a descriptor.

    `jvm`: one that is starting, if there is one. `handlers`: of more requests, by what they do.
    """
    requests, answers = sys.stdin.buffer, os.fdopen(descriptor, "wb")
    spark = simulation_session(small=True, jvm=jvm)
    analyzer = session_analyzer(spark)
    line: InputLine = {"topic": "in", "key": None, "value": "a", "timestamp": 0}
    simulate(
        spark, analyzer, {"do": "simulate", "document": _WARM_UP, "inputs": [line], "trace": 100}
    )

    def send(frame: Answered | Reported) -> None:
        answers.write(frames.encode(frame))
        answers.flush()

    def progress(reported: RunProgress) -> None:
        send({"progress": reported})

    stop = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: stop.set())
    send({"answer": {}})
    while (request := frames.read(requests)) is not None:
        stop.clear()
        send(answer(spark, analyzer, request, progress, stop, handlers))
    spark.stop()
    return 0
