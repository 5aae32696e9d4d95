"""The process that simulates: `python -m millrace_runtime.simulating`.

It reads requests from standard input and writes answers to standard output, as the compiler's
processes do (`millrace_compiler.isolated.frames`); the first answer says that its session is warm.
A request has `document`, `inputs` (input lines, see docs), `trace` (steps to keep), where it is
a test `expected`, where processors are to stop `breakpoints` (lines by node), where topics have
other partitions than in the document `partitions` (their number by topic), where tasks do not begin
with empty stores `begins` (`millrace_runtime.task_states`), and where plain Spark runs the same
lines `plain`: `each` (a micro-batch for each line) or `all` (as few as possible).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from millrace_compiler import Analyzer, DocumentError, Refused, compile_document
from millrace_compiler.isolated import frames
from pyspark.sql import SparkSession

from millrace_runtime.breakpoints import place
from millrace_runtime.comparing import differences_of_test
from millrace_runtime.compiling import session_analyzer
from millrace_runtime.errors import MillraceError
from millrace_runtime.explaining import explain
from millrace_runtime.input_lines import checked_line
from millrace_runtime.memory import TraceLimits
from millrace_runtime.plain.comparing import beside
from millrace_runtime.plain.simulation import PlainSimulator, topology_of
from millrace_runtime.simulation import Cut, Result, Simulator, simulation_session
from millrace_runtime.task_states import Begun
from millrace_runtime.tracing import Edges, Trace, counts_of
from millrace_runtime.unbatched import UnbatchedSimulator

#: outputs that an answer has at most; all are counted
MOST_OUTPUTS = 5_000
#: kinds of nodes that are Python
PROCESSORS = frozenset({"process", "process_values"})
#: differences from what a test expects that an answer has at most
MOST_DIFFERENCES = 50

_WARM_UP: dict[str, Any] = {
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


#: Called with the number of input lines that are done, and of all.
Progress = Callable[[int, int], None]


def simulate(
    spark: SparkSession,
    analyzer: Analyzer,
    request: Mapping[str, Any],
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Compile and run a document on input lines: `{"diagnostics", "result", "plain"}`.

    Without a `result` the document was refused. Raises MillraceError for invalid input lines.
    """
    document = partitioned(request["document"], request.get("partitions") or {})
    try:
        compilation = compile_document(document, analyzer)
    except (DocumentError, Refused) as refused:
        found = [each.to_json() for each in refused.diagnostics]
        return {"diagnostics": found, "result": None, "plain": None}
    diagnostics = [each.to_json() for each in compilation.diagnostics]
    if not compilation.ok or compilation.task_graph is None:
        return {"diagnostics": diagnostics, "result": None, "plain": None}
    lines = [
        checked_line(line, f"Input {number}") for number, line in enumerate(request["inputs"], 1)
    ]
    stops = placed(document, request.get("breakpoints") or {})
    limits = TraceLimits(
        steps=int(request["trace"]),
        breakpoints={
            node: sorted({each["at"] for each in found if each["at"] is not None})
            for node, found in stops.items()
        },
    )
    begins = request.get("begins")
    begun = None if begins is None else Begun(begins)
    result = run(spark, document, compilation.task_graph, lines, limits, begun=begun)
    expected = request.get("expected")
    differences = None if expected is None else differing(document, lines, result, expected)
    cut, plain = request.get("plain"), None
    if cut is not None:
        graph = compilation.task_graph
        plain = run_plain(spark, analyzer, document, graph, lines, result, cut, progress)
    answer = {**shown(document, result), "differences": differences, "breakpoints": stops}
    return {"diagnostics": diagnostics, "result": answer, "plain": plain}


def run_plain(
    spark: SparkSession,
    analyzer: Analyzer,
    document: Mapping[str, Any],
    graph: Mapping[str, Any],
    lines: list[dict[str, Any]],
    result: Result,
    cut: Literal["each", "all"],
    progress: Progress | None = None,
) -> dict[str, Any]:
    """What plain Spark gives beside what Kafka Streams gives, or why it cannot run the document.

    `result`: of Kafka Streams with a micro-batch for each line. Raises MillraceError.
    """
    compilation = compile_document(document, analyzer, dialect="plain")
    diagnostics = [each.to_json() for each in compilation.diagnostics]
    if not compilation.ok:
        return {"cut": cut, "diagnostics": diagnostics, "comparison": None}
    began = time.monotonic()
    try:
        with _apart(spark):
            simulator = PlainSimulator(
                spark.newSession(), topology_of(compilation), compilation, Cut(cut)
            )
            plain = simulator.run(lines, progress)
    except MillraceError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever Spark raises is explained
        raise explain(error) from None
    seconds = round(time.monotonic() - began, 2)
    exact = result if cut == "each" else run(spark, document, graph, lines, None, Cut(cut))
    comparison = {**beside(compilation, exact, plain, cut), "seconds": seconds}
    return {"cut": cut, "diagnostics": diagnostics, "comparison": comparison}


@contextlib.contextmanager
def _apart(spark: SparkSession) -> Iterator[None]:
    """A plain run leaves nothing behind: no open state store, and nothing in the log.

    What Python workers print, Spark writes to Java's standard error; the log has its own stream.
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


def partitioned(document: Mapping[str, Any], partitions: Mapping[str, int]) -> dict[str, Any]:
    """The document with so many partitions of some topics."""
    topics = {name: dict(topic) for name, topic in (document.get("topics") or {}).items()}
    for name, number in partitions.items():
        topics[name] = {**topics.get(name, {}), "partitions": number}
    return {**document, "topics": topics} if topics else dict(document)


def placed(
    document: Mapping[str, Any], breakpoints: Mapping[str, list[int]]
) -> dict[str, list[dict[str, int | None]]]:
    """Where breakpoints stop, by node: `line` as asked, `at` of the statement or None.

    Raises MillraceError for a node that has no Python.
    """
    codes = {
        node["id"]: str((node.get("params") or {}).get("code") or "")
        for node in document["nodes"]
        if node["kind"] in PROCESSORS
    }
    for node in breakpoints:
        if node not in codes:
            raise MillraceError(
                "breakpoint_invalid",
                f"A breakpoint is set in {node}, which is no Python processor of the topology.",
            )
    return {
        node: [{"line": line, "at": place(codes[node], line)} for line in lines]
        for node, lines in breakpoints.items()
    }


def differing(
    document: Mapping[str, Any],
    lines: list[dict[str, Any]],
    result: Result,
    expected: Mapping[str, Any],
) -> list[str]:
    """The first differences from what a test expects, in sentences."""
    test = {"topology": document, "inputs": lines, "expected": expected}
    found = {
        "outputs": result.outputs,
        "dropped": result.dropped,
        "stores": result.stores,
        **({"error": result.error} if result.error else {}),
    }
    return differences_of_test(test, found, "each")[:MOST_DIFFERENCES]


def run(
    spark: SparkSession,
    document: Mapping[str, Any],
    graph: Mapping[str, Any],
    lines: list[dict[str, Any]],
    limits: TraceLimits | None,
    cut: Cut | None = None,
    begun: Begun | None = None,
) -> Result:
    """Run a task graph on input lines, without micro-batches where that is possible.

    `limits`: what is kept of their steps; None for no trace. `begun`: what the tasks begin with.
    Raises MillraceError.
    """
    if begun is not None:
        begun.require(graph)

    def with_(simulator: type[Simulator]) -> Result:
        return simulator(
            spark.newSession(),
            graph,
            partitions={
                name: int(topic.get("partitions", 1))
                for name, topic in (document.get("topics") or {}).items()
            },
            cut=cut,
            trace=limits,
            begun=begun,
        ).run(lines)

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
                    f"{error.message} Such a topology is simulated with empty stores only.",
                ) from None
            return with_(Simulator)
    except MillraceError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever Spark raises is explained
        raise explain(error) from None


def shown(document: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """What the page needs: outputs, counts by edge and node, the trace, stores."""
    edges = Edges(document)
    trace = result.trace or Trace(
        steps=[], truncated=False, stops_truncated=False, stores_truncated=False, counts=[]
    )
    steps = [
        {**step, "edge": edges.find(step["from"], step["port"], step["node"], step["input"])}
        if step["event"] == "record"
        else step
        for step in trace["steps"]
    ]
    return {
        "outputs": result.outputs[:MOST_OUTPUTS],
        "output_count": len(result.outputs),
        "dropped": result.dropped,
        **counts_of(document, trace["counts"], result.drops_by_reason),
        "stores": result.stores,
        "steps": steps,
        "truncated": trace["truncated"],
        "stops_truncated": trace["stops_truncated"],
        "stores_truncated": trace["stores_truncated"],
        "logs": result.logs,
        "error": result.error,
    }


def answer(
    spark: SparkSession,
    analyzer: Analyzer,
    request: Mapping[str, Any],
    progress: Progress | None = None,
) -> dict[str, Any]:
    """A frame: the answer to a request, or why there is none."""
    try:
        return {"answer": simulate(spark, analyzer, request, progress)}
    except MillraceError as error:
        return {"answer": {"error": error.as_dict()}}


def main() -> int:
    """Answers until standard input ends."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What prints by mistake must not end up between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    spark = simulation_session(small=True)
    analyzer = session_analyzer(spark)
    line = {"topic": "in", "key": None, "value": "a", "timestamp": 0}
    simulate(spark, analyzer, {"document": _WARM_UP, "inputs": [line], "trace": 100})

    def send(frame: dict[str, Any]) -> None:
        answers.write(frames.encode(frame))
        answers.flush()

    def progress(done: int, lines: int) -> None:
        send({"progress": {"done": done, "lines": lines}})

    send({"answer": {}})
    while (request := frames.read(requests)) is not None:
        send(answer(spark, analyzer, request, progress))
    spark.stop()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the process that asked has ended
        os._exit(0)
