"""`simulate` and `conformance`: run compiled jobs on Spark, without Kafka, in one warm session."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from millrace_compiler import (
    Analyzer,
    Compilation,
    DocumentError,
    Refused,
    compile_document,
    describe,
)
from millrace_compiler.compilation.compilation import Dialect
from millrace_compiler.compilation.running_part import NoPart, with_doubles
from millrace_compiler.diagnostics.diagnostics import Diagnostic
from millrace_compiler.graphs.fragments import resolved
from millrace_compiler.operators.sources.base import Source
from millrace_model.documents import TopologyDocument
from millrace_model.graphs import TaskGraph
from millrace_model.records import InputLine, OutputLine
from millrace_model.scenarios import RefusedFields, Scenario, ScenarioResult
from millrace_runtime.analyzer.compiling import compiled, session_analyzer
from millrace_runtime.errors import MillraceError
from millrace_runtime.job.explaining import explain
from millrace_runtime.job.outside import Lines, with_lines
from millrace_runtime.plain.predicting import VERDICTS, verdict
from millrace_runtime.program import load_program
from millrace_runtime.results.cuts import Cut
from millrace_runtime.results.input_lines import checked_line
from millrace_runtime.results.results import Result
from millrace_runtime.session.simulation import simulation_session
from millrace_runtime.simulator.simulation import Simulator
from millrace_runtime.simulator.unbatched import UnbatchedSimulator

from cli.documents import (
    keep,
    kept,
    read_document,
    read_lines,
    show_diagnostics,
)
from cli.packing import Pack
from cli.programs import programs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Warm:
    """A warm session that compiles and runs documents, one or two at a time.

    A process has only one Spark session, which all open instances share; the last one to close
    stops it. `unbatched`: run the operator without Spark's micro-batches where that is possible, as
    the page's simulations do. `lines`: the code of a program, whose lines errors name.
    """

    _open = 0
    _session: SparkSession | None = None

    def __init__(
        self, cores: int = 1, *, unbatched: bool = False, lines: Lines | None = None
    ) -> None:
        self._unbatched = unbatched
        self._lines = lines
        if Warm._session is None or Warm._session.sparkContext._jsc is None:  # stopped by others
            Warm._session = simulation_session(f"local[{cores}]")
        Warm._open += 1
        self.spark = Warm._session
        self.analyzer: Analyzer = kept.analyzer or session_analyzer(self.spark)
        self._compiling = threading.Lock()

    def close(self) -> None:
        """Stop the session, unless another instance is open."""
        Warm._open -= 1
        if Warm._open == 0:
            Warm._session = None
            self.spark.stop()

    def compile(self, document: TopologyDocument, dialect: Dialect = "exact") -> Compilation:
        """Compile a document; only one is compiled at a time."""
        with self._compiling:
            return compile_document(document, self.analyzer, dialect=dialect)

    def simulate(
        self,
        document: TopologyDocument,
        compilation: Compilation,
        lines: list[InputLine],
        cut: Cut,
        *,
        restart_each: bool = False,
    ) -> Result:
        """Run compiled code on input lines, in a session with its own settings."""
        if compilation.dialect == "plain":
            return self._simulate_plain(compilation, lines, cut, restart_each=restart_each)
        with _explained():
            graph = self._task_graph(compilation)
            if self._unbatched and not any("restart" in line for line in lines):
                try:
                    made = self._simulator(document, graph, cut, restart_each=restart_each)
                    return made.run(lines)
                except MillraceError as error:
                    if error.code != "reads_its_own":
                        raise
            kind = Simulator
            made = self._simulator(document, graph, cut, restart_each=restart_each, kind=kind)
            return made.run(lines)

    def _simulate_plain(
        self, compilation: Compilation, lines: list[InputLine], cut: Cut, *, restart_each: bool
    ) -> Result:
        from millrace_runtime.plain.simulation import PlainSimulator, topology_of

        with _explained():
            session, topology = self.spark.newSession(), topology_of(compilation)
            simulator = PlainSimulator(
                session, topology, compilation, cut, restart_each=restart_each
            )
            return simulator.run(lines)

    def simulate_pack(self, pack: Pack, cut: Cut, *, restart_each: bool = False) -> Result:
        """Run several documents as one; see `Pack.results`."""
        document = pack.document
        compilation = self.compile(document)
        if not compilation.ok:
            raise Refused(compilation.diagnostics)
        with _explained():
            graph = self._task_graph(compilation)
            simulator = self._simulator(document, graph, cut, restart_each=restart_each)
            return simulator.run_batches(pack.batches(cut))

    def _task_graph(self, compilation: Compilation) -> TaskGraph:
        """Return the task graph of the generated program, which a deployment of it would run."""
        document = document_of(compilation)
        with self._compiling:
            graph = compiled(document, self.analyzer).require_task_graph()
        return graph if self._lines is None else with_lines(graph, self._lines)

    def _simulator(
        self,
        document: TopologyDocument,
        graph: TaskGraph,
        cut: Cut,
        *,
        restart_each: bool,
        kind: type[Simulator] | None = None,
    ) -> Simulator:
        made = kind or (UnbatchedSimulator if self._unbatched else Simulator)
        return made(
            self.spark.newSession(),
            graph,
            name=str(document.get("name") or "simulation"),
            partitions={
                name: int(topic.get("partitions", 1))
                for name, topic in (document.get("topics") or {}).items()
            },
            cut=cut,
            restart_each=restart_each,
        )


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Convert Spark's exceptions to MillraceErrors."""
    try:
        yield
    except MillraceError:
        raise
    except Exception as error:
        if os.environ.get("MILLRACE_DEBUG"):
            raise
        raise explain(error) from None


def document_of(compilation: Compilation) -> TopologyDocument:
    """Return the document that the generated program builds."""
    if compilation.code is None:
        raise MillraceError("not_compiled", "The document has errors, so there is no code to run.")
    with tempfile.TemporaryDirectory(prefix="millrace-program-") as folder:
        for path, text in compilation.code.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        return load_program(folder).document()


def simulate_command(arguments: argparse.Namespace) -> int:
    """Print output lines; exit code 2 for a refused document, 3 if a record stops the run."""
    cut = Cut.parse(arguments.cut)
    document = read_document(arguments.document, arguments.environment, fragments=True)
    lines = read_lines(arguments.inputs)
    if arguments.output:  # fails before the work instead of after it
        Path(arguments.output).touch()
    warm = Warm(unbatched=True, lines=programs.lines.get(arguments.document))
    try:
        compilation = warm.compile(document, arguments.dialect)
        if compilation.diagnostics:
            show_diagnostics([each.to_json() for each in compilation.diagnostics])
        if not compilation.ok:
            return 2
        _warn_of_topics(compilation, lines)
        if arguments.doubles:
            document, found = doubled(compilation, document)
            print(f"Doubles stand for: {', '.join(found) or 'no node'}.", file=sys.stderr)
            compilation = warm.compile(document, arguments.dialect)
            if not compilation.ok:
                show_diagnostics([each.to_json() for each in compilation.diagnostics])
                return 2
        result = warm.simulate(
            document, compilation, lines, cut, restart_each=arguments.restart_each
        )
    finally:
        warm.close()
    _show_logs(result)
    _write_lines(result.outputs, arguments.output)
    if result.error is None:
        return 0
    print(json.dumps({"error": programs.placed(result.error)}, ensure_ascii=False), file=sys.stderr)
    return 3


def _show_logs(result: Result) -> None:
    """Print what nodes print, with the number of the input line, and what they drop."""
    for line in result.logs:
        at = f" (input {line['after']})" if line["after"] else ""
        print(f"{line['level'].upper()} {line['node']}{at}: {line['message']}", file=sys.stderr)
    for node, figures in result.figures.items():
        for reason, count in figures["dropped"].items():
            records = "1 record" if count == 1 else f"{count} records"
            print(f"{node}: {records} dropped ({reason})", file=sys.stderr)


def doubled(
    compilation: Compilation, document: TopologyDocument
) -> tuple[TopologyDocument, tuple[str, ...]]:
    """Return a document with its doubles in place of nodes, and these nodes.

    Raises MillraceError for a node that cannot have its double.
    """
    doubles = (document.get("drawing") or {}).get("doubles") or []
    whole = resolved(document)
    if not doubles:
        return whole, ()
    try:
        return with_doubles(compilation, whole, doubles)
    except NoPart as error:
        raise MillraceError(error.code, str(error), facts=error.facts) from None


def _warn_of_topics(compilation: Compilation, lines: list[InputLine]) -> None:
    """Warn about records of topics that the topology does not read; they are ignored."""
    read: set[str] = set()
    for operator in compilation.graph.operators.values():
        if isinstance(operator, Source):
            if not operator.topic_names():  # a pattern, which may match any topic
                return
            read.update(operator.topic_names())
    given = {line["topic"] for line in lines if "topic" in line}
    for topic in sorted(given - read):
        count = sum(line.get("topic") == topic for line in lines)
        print(
            f"warning: {count} input records are of the topic {topic}, which the topology does "
            f"not read (it reads {', '.join(sorted(read))}).",
            file=sys.stderr,
        )


def _write_lines(outputs: Iterable[OutputLine], path: str | None) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in outputs)
    if path:
        Path(path).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
        sys.stdout.flush()


def conformance_command(arguments: argparse.Namespace) -> int:
    """Write one result file per scenario."""
    cut = Cut.parse(arguments.cut)
    scenarios = load_scenarios(arguments.folder, arguments.only)
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    warm = Warm(cores=arguments.parallel)

    verdicts: Counter[str] = Counter()

    def work(scenario: Scenario) -> None:
        result = run_scenario(
            warm, scenario, cut, restart_each=arguments.restart_each, dialect=arguments.dialect
        )
        if (result["error"] or {}).get("code") == "python_packages":
            raise MillraceError("python_packages", result["error"]["message"])
        keep(out, result)
        comparable = cut.kind == "each" or "all" in scenario.get("cuts", ["all"])
        wanted = comparable and "outputs" in (scenario.get("expected") or {})
        if arguments.dialect == "plain" and wanted:
            found = verdict(scenario, result, arguments.cut)
            verdicts[found] += 1
            if found == "wrong":
                print(f"{scenario['id']}: a difference without a diagnostic", file=sys.stderr)

    try:
        with ThreadPoolExecutor(arguments.parallel) as pool:
            for _ in pool.map(work, scenarios):
                pass
    finally:
        warm.close()
    counted = "".join(f", {verdicts[each]} {each}" for each in VERDICTS if verdicts)
    print(f"{len(scenarios)} results in {out}{counted}", file=sys.stderr)
    return 0


def load_scenarios(folder: str | Path, only: str | None = None) -> list[Scenario]:
    """Return the scenarios of a folder, in the order of their file names."""
    wanted = set(only.split(",")) if only else None
    found = []
    for path in sorted(Path(folder).glob("*.json")):
        scenario = json.loads(path.read_text(encoding="utf-8"))
        scenario.setdefault("id", path.stem)
        if wanted is None or scenario["id"] in wanted:
            found.append(scenario)
    if not found:
        raise MillraceError("nothing_found", f"There is no such scenario file in {folder}.")
    return found


def run_scenario(
    warm: Warm,
    scenario: Scenario,
    cut: Cut,
    *,
    restart_each: bool = False,
    dialect: Dialect = "exact",
) -> ScenarioResult:
    """Return the result of one scenario in the form of its result file."""
    name = scenario["id"]
    document = scenario["topology"]
    try:
        if scenario.get("compare") == "describe":
            with warm._compiling:
                described = describe(document, warm.analyzer).to_json()
                return {
                    "id": name,
                    "subtopologies": described["subtopologies"],
                    "internal_topics": described["internal_topics"],
                    "error": None,
                }
        compilation = warm.compile(document, dialect)
        if not compilation.ok:
            return {"id": name, "error": programs.placed(_refusal(compilation.diagnostics))}
        lines = [
            checked_line(line, f"input {number}")
            for number, line in enumerate(scenario.get("inputs") or [], 1)
        ]
        result = warm.simulate(document, compilation, lines, cut, restart_each=restart_each)
    except Refused as refused:
        return {"id": name, "error": programs.placed(_refusal(refused.diagnostics))}
    except DocumentError as error:
        return {"id": name, "error": _refusal(error.diagnostics)}
    except MillraceError as error:
        return {"id": name, "error": programs.placed(error.as_dict())}
    answer: ScenarioResult = {"id": name, "outputs": result.outputs, "dropped": result.dropped}
    if dialect == "plain":
        answer["differences"] = compilation.differences
    else:
        answer["stores"] = result.stores
    answer["error"] = None if result.error is None else programs.placed(result.error)
    return answer


def _refusal(diagnostics: Iterable[Diagnostic]) -> RefusedFields:
    listed = [each.to_json() for each in diagnostics]
    first = next((each for each in listed if each["severity"] == "error"), listed[0])
    return {
        "kind": "refused",
        "code": first["code"],
        "node": first["node"],
        "parameter": first["parameter"],
        "message": first["message"],
        "diagnostics": listed,
    }
