"""One checkpoint through several versions of a topology, on a real broker."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.runtime import topics


class Silent:
    """Takes what a driver reports."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


class Changing:
    """A warm session; each run is a start of a job on a checkpoint, until all is processed."""

    def __init__(self, address: str) -> None:
        from millrace_runtime import session
        from millrace_runtime.compiling import session_analyzer

        self.address = address
        self.spark = session.create(
            "changing",
            master="local[2]",
            settings={
                "spark.sql.streaming.checkpointFileManagerClass": session.LOCAL_CHECKPOINTS,
                "spark.sql.codegen.wholeStage": "false",
                **session.CHECKPOINTS,
            },
        )
        self.analyzer = session_analyzer(self.spark)

    def close(self) -> None:
        self.spark.stop()

    def run(self, document: dict[str, Any], folder: Path, *decisions: str) -> None:
        """Compile, start, process what the topics hold, end. Raises what the driver would say."""
        from millrace_compiler import compile_document
        from millrace_compiler.state_schema import state_schema
        from millrace_runtime import columns, main

        compilation = compile_document(document, self.analyzer).require()
        folder.mkdir(exist_ok=True)
        run = uuid.uuid4().hex
        options = ["--checkpoint", str(folder / "checkpoint"), "--run", run]
        options += ["--bootstrap-servers", self.address]
        options += [part for each in decisions for part in ("--decide", each)]
        starter = main.Starter(
            self.spark, "changing", compilation.task_graph or {},
            main.parser("changing").parse_args(options), Silent(), main.Stages(),
            state_schema(compilation),
        )  # fmt: skip
        try:
            query = starter.start("available now")
            main._wait(query, threading.Event(), Silent(), starter.committed)
        except Exception as error:
            raise main.explain(error) from error
        finally:
            columns.gateway().StreamTasks.release(run)


class Pair:
    """An input and an output topic of a test's own."""

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
        """Key and value of the records that came since the last call."""
        count = topics.size(self.address, self.sink)
        found = topics.consume(self.address, self.sink, count)[self._seen :]
        self._seen += len(found)
        return [(r.key().decode(), json.loads(r.value())) for r in found]
