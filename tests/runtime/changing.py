"""Runs several versions of a topology on one checkpoint, with a real broker."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.compiler.kit import Raw, document, edge, node, sink, stream
from tests.runtime import topics
from tests.runtime.sessions import new_session

KEYS = [f"key-{n}" for n in range(12)]


class Silent:
    """A report that ignores every call."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


class Changing:
    """A warm session; each run starts a job on a checkpoint and processes all records.

    `root`: a location for the checkpoints other than a local folder; `settings`: of the session.
    """

    def __init__(
        self, address: str, root: str | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        from millrace_runtime.analyzer.compiling import session_analyzer
        from millrace_runtime.checkpoint import storage
        from millrace_runtime.session import session

        self.address = address
        self.root = root
        self.spark = new_session(
            "changing",
            master="local[2]",
            settings={
                **storage.spark_settings(root or "/"),
                "spark.sql.codegen.wholeStage": "false",
                **session.CHECKPOINTS,
                **(settings or {}),
            },
            storage=root or "",
        )
        self.analyzer = session_analyzer(self.spark)

    def close(self) -> None:
        self.spark.stop()

    def location(self, folder: Path) -> str:
        """Return the location of a folder's checkpoint."""
        return f"{self.root}/{folder.name}/checkpoint" if self.root else str(folder / "checkpoint")

    def run(
        self,
        document: Any,
        folder: Path,
        *decisions: str,
        begin: Any | None = None,
        more: Sequence[str] = (),
        report: Any = None,
        until: threading.Event | None = None,
    ) -> None:
        """Compile, start, process all records of the topics, and stop. Raises the driver's error.

        `until`: keep running until this is set.
        """
        from millrace_compiler import compile_document
        from millrace_compiler.state.state_schema import state_schema
        from millrace_runtime import columns
        from millrace_runtime.driver import main, start
        from millrace_runtime.driver.following import Following
        from millrace_runtime.driver.life_cycle import Driving
        from millrace_runtime.job.explaining import explain

        compilation = compile_document(document, self.analyzer).require()
        folder.mkdir(exist_ok=True)
        run = uuid.uuid4().hex
        options = ["--checkpoint", self.location(folder), "--run", run]
        options += ["--bootstrap-servers", self.address]
        options += [part for each in decisions for part in ("--decide", each)]
        options += [] if begin is None else ["--begin", json.dumps(begin)]
        arguments = main.parser("changing").parse_args(
            [*options, *([] if until else ["--available-now"]), *more]
        )
        stages, reported = start.Stages(), report or Silent()
        job = start.Starter(
            self.spark, "changing", compilation.require_task_graph(), arguments, reported, stages,
            state_schema(compilation),
        )  # fmt: skip
        try:
            driving = Following if arguments.follow else Driving
            driving(job, arguments, until or threading.Event(), reported, stages).run()
        except Exception as error:
            raise explain(error) from error
        finally:
            columns.gateway().StreamTasks.release(run)

    def rows(self, folder: Path, store: str) -> list[Any]:
        """Return the rows of a store as read from the checkpoint, without their tasks."""
        from millrace_runtime.stores.reading import StateQuery, read_state

        query = StateQuery(limit=1_000)
        page = read_state(self.spark, self.location(folder), store, query)
        assert page["next"] is None
        return [
            {name: each for name, each in row.items() if name != "task"} for row in page["rows"]
        ]


class Pair:
    """An input and an output topic for one test."""

    def __init__(self, address: str, partitions: int = 1) -> None:
        self.address = address
        self.source, self.sink = (f"{end}-{uuid.uuid4()}" for end in ("in", "out"))
        topics.create(address, {self.source: partitions, self.sink: 1})
        self._seen = 0

    def write(self, records: Sequence[tuple[str, str]], timestamp: int = 1000) -> None:
        topics.produce(
            self.address, self.source,
            [{"key": k, "value": v, "timestamp": timestamp} for k, v in records],
        )  # fmt: skip

    def grow(self, partitions: int) -> None:
        """Give the input topic more partitions."""
        topics.grow(self.address, self.source, partitions)

    def new(self) -> list[tuple[str, Any]]:
        """Return key and value of the records since the last call."""
        count = topics.size(self.address, self.sink)
        found = topics.consume(self.address, self.sink, count)[self._seen :]
        self._seen += len(found)
        return [(r.key().decode(), json.loads(r.value())) for r in found]


def shown(raw: Raw, after: str, tag: str, pair: Pair, key: str = "key") -> None:
    """Write the output of a step to the pair's sink, under a tag."""
    value = f"to_json(named_struct('{tag}', value))"
    raw["nodes"] += [
        node(f"{tag}-shown", "map", key=key, value=value),
        sink(f"{tag}-out", topic=pair.sink),
    ]
    raw["edges"] += [edge(f"{after} > {tag}-shown"), edge(f"{tag}-shown > {tag}-out")]


def everything(pair: Pair, partitions: int, *, spread: int | None = None) -> Raw:
    """Return a topology with stores of many kinds: rows, windows, sessions, buffers.

    `spread`: add a repartition with this many partitions before them.
    """
    tumbling = {"type": "tumbling", "size": 10_000, "grace": 0}
    sliding = {"type": "sliding", "difference": 5_000, "grace": 0}
    session = {"type": "session", "gap": 3_000, "grace": 0}
    steps = [
        stream("in", [pair.source]),
        node("sum", "aggregate", type="BIGINT", initializer="0L",
             aggregator="agg + CAST(value AS BIGINT)"),
        node("closing", "count", window=tumbling, emit="window_close"),
        node("sliding", "count", window=sliding, emit="window_close"),
        node("sessions", "count", window=session, emit="window_close"),
        node("windows", "count", window=tumbling),
        node("held", "suppress", until="window_closes"),
        node("odd", "filter", predicate="CAST(value AS INT) % 2 = 1"),
        node("even", "filter", predicate="CAST(value AS INT) % 2 = 0"),
        node("pairs", "join.stream_stream", type="outer", before=4_000, after=4_000, grace=0,
             joiner="concat(coalesce(left, '-'), ' ', coalesce(right, '-'))"),
        node("latest", "to_table"),
        node("enriched", "join.stream_table", joiner="concat(left, ' after ', right)"),
    ]  # fmt: skip
    edges = ["in > sum", "in > closing", "in > sliding", "in > sessions", "in > windows",
             "windows > held", "in > odd", "in > even", "odd > pairs.left", "even > pairs.right",
             "in > latest", "in > enriched.left", "latest > enriched.right"]  # fmt: skip
    for name in ("sum", "closing", "sliding", "sessions", "held"):
        steps.append(node(f"{name}-updates", "to_stream"))
        edges.append(f"{name} > {name}-updates")
    if spread is not None:
        steps.append(node("spread", "repartition", partitions=spread))
        edges = [each.replace("in >", "spread >") for each in edges] + ["in > spread"]
    raw = document(steps, edges, topics={pair.source: partitions})
    shown(raw, "sum-updates", "sum", pair)
    for name in ("closing", "sliding", "sessions", "held"):
        shown(raw, f"{name}-updates", name, pair, key="key.key")
    shown(raw, "pairs", "pairs", pair)
    shown(raw, "enriched", "enriched", pair)
    return raw


def by_key(pair: Pair) -> list[tuple[str, str]]:
    return sorted((key, json.dumps(value)) for key, value in pair.new())
