"""Runs a program of the plain dialect as a deployment: `python -m millrace_runtime.plain.driving`.

The current folder has the exported files. The program `job.py` runs unchanged, as its own `main`;
this module gives it a Spark session that has Kafka's connector, the settings of Kafka clients and
the offsets at which it begins. It reports the progress of its queries, pauses, drains and stops
them between two micro-batches, and reports the node at which a query failed. The exit codes are
those of `millrace_runtime.driver.main`.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import re
import runpy
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from millrace_model.documents import TopologyDocument

from millrace_runtime.checkpoint import lease, storage
from millrace_runtime.checkpoint.starting_point import Beginner, Beginning, beginning_of
from millrace_runtime.checkpoint.storage import write_whole
from millrace_runtime.driver.control import LOOK_SECONDS, Wanted, wait_while_paused, wanted
from millrace_runtime.driver.main import FAILED, REFUSED, STOPPED_BY_RECORD, fenced
from millrace_runtime.driver.options import add_options, kafka_options
from millrace_runtime.errors import MillraceError
from millrace_runtime.job.explaining import explain
from millrace_runtime.plain.notes import copy_notes
from millrace_runtime.plain.progress import PlainProgress
from millrace_runtime.reports.report import Reporter, now_ms, reporter
from millrace_runtime.services.stopping import set_on_signals
from millrace_runtime.session import session
from millrace_runtime.session.java_exceptions import causes

PROGRAM = "job.py"
#: file beside the checkpoints of the programs, with the run that completed its first batch
ARRIVED = "arrived"
#: file in a checkpoint with the offsets at which its queries begin
STARTING = "starting-offsets.json"
#: interval at which the notes of a checkpoint that is stored elsewhere are copied
COPY_SECONDS = 5.0
#: how long a stop waits for the ends of micro-batches
STOP_PATIENCE_SECONDS = 15.0
#: SQLSTATE classes of errors that a record causes: data exceptions, Python code, raise_error
_OF_RECORDS = ("22", "38", "P0")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the driver's options."""
    p = argparse.ArgumentParser(
        prog="python -m millrace_runtime.plain.driving",
        description="Run a program of the plain dialect as a deployment.",
    )
    p.add_argument("--bootstrap-servers", required=True, metavar="HOST:PORT")
    p.add_argument(
        "--checkpoint",
        required=True,
        metavar="PLACE",
        help="folder or URI for offsets and state, used by no other program",
    )
    p.add_argument(
        "--starting-offsets",
        type=json.loads,
        default={},
        metavar="JSON",
        help="offsets at which the previous program stopped, by topic and partition",
    )
    add_options(p)
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program until it is stopped, and return the exit code."""
    arguments = parser().parse_args(argv)
    stopping = threading.Event()
    set_on_signals(stopping)
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
    """The error that ended the program. ``of_record``: a restart would end at the same record."""

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
        self.document: TopologyDocument = json.loads(_text(self.folder / "topology.json"))
        self.queries = queries_of(self.folder)
        self.ended: BaseException | None = None

    def run(self) -> None:
        """Run until stopped, or until all records are read if a drain is requested.

        Raises the error that ended the program before that.
        """
        begin = beginning_of(self.arguments.begin)
        kafka = kafka_options(self.arguments.kafka_config, os.environ)
        place = self.arguments.checkpoint
        storage.require_location(place)
        spark = self._session()
        held = progress = None
        try:
            storage.require_reachable(place)
            held = lease.taken(place, self.arguments.run, lambda error: fenced(error, self.report))
            self._copy_notes()
            client = {"bootstrap.servers": self.arguments.bootstrap_servers, **kafka}
            offsets = self._offsets(spark, client, begin)
            progress = PlainProgress(spark, self.document, self.queries, offsets, client)
            spark.streams.addListener(progress)
            self.report.watch(progress)
            while not self.stopping.is_set():
                word = wanted(self.arguments.control)
                if word == "pause":
                    wait_while_paused(self.arguments.control, self.stopping, self.report)
                elif self._work(spark, progress, self._options(offsets, kafka, word), word):
                    return
        finally:
            self.report.detach()
            if progress is not None:
                spark.streams.removeListener(progress)
            with contextlib.suppress(Exception):  # the storage may be away
                self._copy_notes()
            if held is not None:
                held.release()
            spark.stop()

    def _session(self) -> Any:
        place = self.arguments.checkpoint
        conf = dict(item.split("=", 1) for item in self.arguments.spark_config)
        if not storage.is_local(place):
            conf = {**storage.spark_settings(place), **conf}
        spark = session.create(
            self.document.get("name") or "topology",
            master=self.arguments.master,
            settings=conf,
            storage=place,
        )
        for name, value in session.PLAIN.items():
            spark.conf.set(name, value)
        return spark

    @property
    def _notes(self) -> Path:
        """The local folder of the checkpoint, or of its notes."""
        return Path(self.arguments.notes or self.arguments.checkpoint)

    def _copy_notes(self) -> None:
        place = storage.folder_of(self.arguments.checkpoint)
        if self.arguments.notes and isinstance(place, storage.StoredPath):
            copy_notes(place, self._notes, self.queries)

    def _offsets(
        self, spark: Any, client: dict[str, str], begin: Beginning | None
    ) -> dict[str, dict[str, int]]:
        """Return the first offsets of a new checkpoint, for all partitions that queries read."""
        folder = storage.folder_of(self.arguments.checkpoint)
        noted = folder / STARTING
        if noted.exists():  # a query may not have begun yet
            found: dict[str, dict[str, int]] = json.loads(noted.read_text(encoding="utf-8"))
            return found
        stopped, start = self.arguments.starting_offsets, self.arguments.start
        continued = Beginning("")
        sources = Beginner(spark, client, begin or continued, stopped, frozenset(), start)
        found = {}
        for node in self.document.get("nodes", []):
            params = node.get("params") or {}
            if node["kind"] in ("source.stream", "source.table"):
                names = [*(params.get("topics") or []), *filter(None, [params.get("topic")])]
                begins = params.get("start", "earliest")
                found |= sources.places(names, params.get("topic_pattern"), begins)
        # Rows between the queries belong to the state of the previous program.
        again = Beginning("", at="latest") if begin is not None and begin.reset else continued
        own = json.loads(_text(self.folder / "plan.json"))["between"]
        found |= Beginner(spark, client, again, stopped, frozenset(), None).places(
            own, None, "latest"
        )
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(noted, json.dumps(found))
        return found

    def _options(
        self, offsets: Mapping[str, Mapping[str, int]], kafka: Mapping[str, str], word: Wanted
    ) -> list[str]:
        """Return the command line of the program."""
        found = ["--bootstrap-servers", self.arguments.bootstrap_servers]
        found += ["--checkpoint", self.arguments.checkpoint, "--trigger", self.arguments.trigger]
        if offsets:
            found += ["--starting-offsets", json.dumps(offsets)]
        if kafka:
            found += ["--kafka-config", _piped(kafka)]
        return [*found, "--available-now"] if word == "drain" else found

    def _work(self, spark: Any, progress: PlainProgress, options: list[str], word: Wanted) -> bool:
        """Return whether the program is done; False if another mode is requested now."""
        spark.streams.resetTerminated()
        progress.restart()
        self.ended = None
        program = threading.Thread(target=self._program, args=[options], name="program")
        program.daemon = True
        program.start()
        running = arrived = False
        due = time.monotonic() + COPY_SECONDS
        while program.is_alive() and not self.stopping.wait(LOOK_SECONDS):
            if not running and (word == "drain" or set(self.queries) <= progress.started):
                running = True
                self.report.state("running")
                self.report.log("info", f"queries: {', '.join(self.queries)}")
            if not arrived and progress.committed:
                arrived = True
                self._copy_notes()
                write_whole(self._notes.parent / ARRIVED, self.arguments.run)
            if time.monotonic() >= due:
                self._copy_notes()
                due = time.monotonic() + COPY_SECONDS
            if wanted(self.arguments.control) != word:
                while program.is_alive() or spark.streams.active:
                    _stop(spark)
                    program.join(LOOK_SECONDS)
                return False
        if self.stopping.is_set():
            self.report.state("stopping")
            _stop(spark)
            return True
        if word == "drain" and self.ended is None:
            return True
        raise self._failure(progress)

    def _program(self, options: list[str]) -> None:
        """Run `job.py` as `python job.py` would."""
        sys.argv = [PROGRAM, *options]
        try:
            runpy.run_path(str(self.folder / PROGRAM), run_name="__main__")
        except BaseException as error:  # noqa: BLE001 - the main thread handles it
            self.ended = error

    def _failure(self, progress: PlainProgress) -> _Failed:
        """Return why the program ended, at the node whose query failed."""
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
            cause.node = node
            return _Failed(cause)
        refused = type(self.ended).__name__ in ("AnalysisException", "ParseException", "SystemExit")
        reason = sentence(whole)
        errors = (self.ended, RuntimeError(text))
        found = (each for error in errors if error is not None for each in causes(error))
        of_record = any(each.state.startswith(_OF_RECORDS) for each in found)
        if query:
            message = f"The query “{query}” failed: {reason}"
            facts = {"query": query, "reason": reason}
            failed = MillraceError("query_failed", message, node=node, facts=facts)
        else:
            code = "program_refused" if refused else "internal"
            failed = MillraceError(code, reason, facts={"reason": reason})
        return _Failed(failed, of_record=of_record)


def sentence(text: str) -> str:
    """Return the first line of Spark's message about a cause, without the ids of the query."""
    parts = re.split(r"terminated with exception: ", text)
    conditions = re.findall(r"\[[A-Z_.]+\][^\n]*SQLSTATE: (?:22|38|P0)\w*", text)
    found = conditions[-1] if conditions else parts[-1]
    return next((line.strip() for line in found.splitlines() if line.strip()), "unknown")


def queries_of(folder: Path) -> dict[str, str]:
    """Return the node of each query of the program, by the query's name."""
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
    """Stop the queries, each between two micro-batches if these end in time."""
    deadline = time.monotonic() + STOP_PATIENCE_SECONDS
    for query in spark.streams.active:
        while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline:
            time.sleep(0.005)
        query.stop()


def _piped(settings: Mapping[str, str]) -> str:
    """Return a file that can be read once, so that secrets are neither on disk nor in arguments."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as lines:
        lines.writelines(f"{name}={value}\n" for name, value in settings.items())
    return f"/dev/fd/{reading}"


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
