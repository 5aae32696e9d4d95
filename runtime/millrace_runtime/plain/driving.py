"""Runs a program of the plain dialect as a deployment: `python -m millrace_runtime.plain.driving`.

The current folder has the exported files. The program `job.py` runs unchanged, as its own `main`;
this module gives it a Spark session that has Kafka's connector, reports the progress of its
queries, stops them between two micro-batches, and says at which node a query failed. The exit codes
are those of `millrace_runtime.main`.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import runpy
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from millrace_runtime import session, topics
from millrace_runtime.errors import MillraceError
from millrace_runtime.explaining import explain
from millrace_runtime.main import FAILED, REFUSED, STOPPED_BY_RECORD, now_ms
from millrace_runtime.options import kafka_options
from millrace_runtime.plain.progress import PlainProgress
from millrace_runtime.report import Reporter, reporter
from millrace_runtime.storage import write_whole

PROGRAM = "job.py"
#: beside the checkpoints of the deployment's programs: the run that did a first batch
ARRIVED = "arrived"
#: in a checkpoint: where its queries begin
STARTING = "starting-offsets.json"
LOOK_SECONDS = 0.2
#: what a stop waits for the ends of micro-batches
STOP_PATIENCE_SECONDS = 15.0
#: SQLSTATE classes of what a record causes: data exceptions, raise_error, Python code
_OF_RECORDS = re.compile(r"SQLSTATE: (?:22|38|P0)")

Offsets = Mapping[str, Mapping[str, int]]


def parser() -> argparse.ArgumentParser:
    """The options of the driver."""
    p = argparse.ArgumentParser(prog="plain.driving", description=__doc__)
    p.add_argument("--bootstrap-servers", required=True, metavar="HOST:PORT")
    p.add_argument("--checkpoint", required=True, metavar="DIR", help="of this program alone")
    p.add_argument(
        "--starting-offsets",
        type=json.loads,
        default={},
        metavar="JSON",
        help="where a new checkpoint begins, by topic and partition; others as their sources say",
    )
    p.add_argument("--run", default="local", help="name of this run in reports")
    p.add_argument("--report", metavar="URL", default=os.environ.get("MILLRACE_REPORT"))
    p.add_argument("--master", default=None)
    p.add_argument("--spark-config", action="append", default=[], metavar="KEY=VALUE")
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program until it is stopped, and give the exit code."""
    arguments = parser().parse_args(argv)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    report = reporter(arguments.report, arguments.run)
    report.state("starting")
    try:
        Driver(arguments, report, stopping).run()
    except Exception as caught:  # noqa: BLE001 - whatever Spark raises is explained
        error = caught if isinstance(caught, _Failed) else _Failed(explain(caught))
        report.state("failed", error.cause.as_dict())
        report.close()
        last_words = {"at": now_ms(), "error": error.cause.as_dict()}
        print(json.dumps(last_words), file=sys.stderr, flush=True)
        if error.of_record:
            return STOPPED_BY_RECORD
        lasting = error.cause.code.startswith(("option_", "program_", "offsets_lost"))
        return REFUSED if lasting else FAILED
    report.state("stopped")
    report.close()
    return 0


class _Failed(Exception):
    """Why the program ended. ``of_record``: it would end there again."""

    def __init__(self, cause: MillraceError, *, of_record: bool = False) -> None:
        super().__init__(cause.message)
        self.cause, self.of_record = cause, of_record


class Driver:
    """One run of the program in this process."""

    def __init__(
        self, arguments: argparse.Namespace, report: Reporter, stopping: threading.Event
    ) -> None:
        self.arguments, self.report, self.stopping = arguments, report, stopping
        self.folder = Path.cwd()
        self.document: dict[str, Any] = json.loads(_text(self.folder / "topology.json"))
        self.queries = queries_of(self.folder)
        self.ended: BaseException | None = None

    def run(self) -> None:
        """Run until a stop. Raises what ended the program before that."""
        if kafka_options(None, os.environ):
            raise MillraceError(
                "option_unsupported",
                "A program of the plain dialect has no settings for Kafka's security. Use a broker "
                "that needs none, or deploy the topology in the exact dialect.",
            )
        spark = self._session()
        progress = None
        try:
            client = {"bootstrap.servers": self.arguments.bootstrap_servers}
            offsets = self._offsets(spark, client)
            progress = PlainProgress(spark, self.document, self.queries, offsets, client)
            spark.streams.addListener(progress)
            self.report.watch(progress)
            self._drive(spark, progress, offsets)
        finally:
            self.report.detach()
            if progress is not None:
                spark.streams.removeListener(progress)
            spark.stop()

    def _session(self) -> Any:
        conf = dict(item.split("=", 1) for item in self.arguments.spark_config)
        spark = session.create(
            self.document.get("name") or "topology", master=self.arguments.master, settings=conf
        )
        for name, value in session.PLAIN.items():
            spark.conf.set(name, value)
        return spark

    def _offsets(self, spark: Any, client: dict[str, str]) -> dict[str, dict[str, int]]:
        """Where a new checkpoint begins: every partition of every topic that queries read."""
        noted = Path(self.arguments.checkpoint) / STARTING
        if noted.exists():  # a query may not have begun yet
            found: dict[str, dict[str, int]] = json.loads(_text(noted))
            return found
        given: Offsets = self.arguments.starting_offsets
        wanted = dict.fromkeys(json.loads(_text(self.folder / "plan.json"))["between"], "latest")
        for node in self.document.get("nodes", []):
            params = node.get("params") or {}
            if node["kind"] not in ("source.stream", "source.table"):
                continue
            names = [*(params.get("topics") or []), *filter(None, [params.get("topic")])]
            if params.get("topic_pattern"):
                names += topics.matching(spark, client, params["topic_pattern"])
            wanted |= dict.fromkeys(names, params.get("start", "earliest"))
        held = topics.ranges(spark, client, list(wanted))
        found = {
            topic: {
                number: given.get(topic, {}).get(
                    number, end if wanted[topic] == "latest" and topic not in given else first
                )
                for number, (first, end) in partitions.items()
            }
            for topic, partitions in held.items()
        }
        noted.parent.mkdir(parents=True, exist_ok=True)
        write_whole(noted, json.dumps(found))
        return found

    def _drive(self, spark: Any, progress: PlainProgress, offsets: Offsets) -> None:
        program = threading.Thread(target=self._program, args=[offsets], name="program")
        program.daemon = True
        program.start()
        running = arrived = False
        while program.is_alive() and not self.stopping.wait(LOOK_SECONDS):
            if not running and set(self.queries) <= progress.started:
                running = True
                self.report.state("running")
                self.report.log("info", f"queries: {', '.join(self.queries)}")
            if not arrived and progress.committed:
                arrived = True
                write_whole(Path(self.arguments.checkpoint).parent / ARRIVED, self.arguments.run)
        if self.stopping.is_set():
            self.report.state("stopping")
            _stop(spark)
            return
        raise self._failure(progress)

    def _program(self, offsets: Offsets) -> None:
        """Run `job.py` as `python job.py` would."""
        sys.argv = [
            PROGRAM, "--bootstrap-servers", self.arguments.bootstrap_servers,
            "--checkpoint", self.arguments.checkpoint,
            *(["--starting-offsets", json.dumps(offsets)] if offsets else []),
        ]  # fmt: skip
        try:
            runpy.run_path(str(self.folder / PROGRAM), run_name="__main__")
        except BaseException as error:  # noqa: BLE001 - its end is looked at by the main thread
            self.ended = error

    def _failure(self, progress: PlainProgress) -> _Failed:
        """Why the program ended, at the node whose query failed."""
        deadline = time.monotonic() + 2.0
        while progress.failed is None and time.monotonic() < deadline:
            time.sleep(0.05)
        query, text = progress.failed or ("", "")
        if self.ended is None and not text:
            return _Failed(MillraceError("program_ended", "The program ended by itself."))
        whole = f"{text}\n{self.ended or ''}"
        cause = explain(self.ended or RuntimeError(text))
        node = cause.node or self.queries.get(query)
        if cause.code != "internal":
            return _Failed(MillraceError(cause.code, cause.message, node=node))
        refused = type(self.ended).__name__ in ("AnalysisException", "ParseException", "SystemExit")
        code = "program_refused" if refused and not query else "query_failed"
        message = f"The query “{query}” failed: {sentence(whole)}" if query else sentence(whole)
        return _Failed(
            MillraceError(code, message, node=node), of_record=bool(_OF_RECORDS.search(whole))
        )


def sentence(text: str) -> str:
    """The first line of what Spark says about a cause, without the query's ids."""
    parts = re.split(r"terminated with exception: ", text)
    conditions = re.findall(r"\[[A-Z_.]+\][^\n]*SQLSTATE: (?:22|38|P0)\w*", text)
    found = conditions[-1] if conditions else parts[-1]
    return next((line.strip() for line in found.splitlines() if line.strip()), "unknown")


def queries_of(folder: Path) -> dict[str, str]:
    """The node of each query of the program, by the query's name."""
    spans = json.loads(_text(folder / "source_map.json"))[PROGRAM]
    found = {}
    for call in ast.walk(ast.parse(_text(folder / PROGRAM))):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == "kafka"
            and call.func.attr in ("write", "show")
        ):
            name = ast.literal_eval(call.args[1])
            nodes = [s["node"] for s in spans if s["start"] <= call.lineno <= s["end"]]
            found[name] = nodes[-1] if nodes else name
    return found


def _stop(spark: Any) -> None:
    """Stop the queries, each between two micro-batches where it gets there in time."""
    deadline = time.monotonic() + STOP_PATIENCE_SECONDS
    for query in spark.streams.active:
        while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline:
            time.sleep(0.005)
        query.stop()


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
