"""A test driver of whole topologies, as Kafka Streams' TopologyTestDriver."""

from __future__ import annotations

import base64
import contextlib
import difflib
import json
import sys
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from millrace_compiler.graphs.fragments import resolved
from millrace_model.documents import TopologyDocument
from millrace_model.records import LoggedLine, OperatorRecord, OperatorRow
from millrace_model.traces import DriverStep

from millrace_runtime import columns
from millrace_runtime.analyzer.compiling import compiled
from millrace_runtime.dsl.topology import Topology
from millrace_runtime.errors import MillraceError
from millrace_runtime.formats import Format
from millrace_runtime.job.explaining import explain
from millrace_runtime.job.job import Job
from millrace_runtime.job.outside import Outside, placed
from millrace_runtime.keywords import Checked
from millrace_runtime.processor import duration
from millrace_runtime.results.lines import LAST_LETTER, STOP, partition_of
from millrace_runtime.simulator.memory import CONTROL_TOPIC, Memory
from millrace_runtime.testing.failures import RecordFailed, failure
from millrace_runtime.testing.sessions import analyzer_of, session
from millrace_runtime.testing.stores import open_store
from millrace_runtime.testing.times import Duration, Time, milliseconds
from millrace_runtime.testing.topics import TestInputTopic, TestOutputTopic, TestRecord
from millrace_runtime.testing.values import FormatSerde, Serde, SinkValues

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RAW: Format = {"format": "bytes"}


class Drop(NamedTuple):
    """A record that a node dropped, with the reason, such as `late`, `null_key` or `dead_letter`.

    `record`: the piped record that caused it; None if the wall clock did.
    """

    node: str
    reason: str
    record: TestRecord | None = None


class TopologyTestDriver(Checked):
    """Runs a topology on single records, each of which is processed before the call returns.

    The tasks, stores and clocks are those of a deployment, in this process's Spark session, which
    the tests of a run share (`spark`: another one). `topology`: a Topology or a document.
    `initial_wall_clock_time`: only `advance_wall_clock` moves the wall clock from there. Use it in
    a `with` statement, or call `close`. Not thread-safe.

    Raises ProgramError for a program that does not compile, and RecordFailed for a processor
    whose `init` fails.
    """

    def __init__(
        self,
        topology: Topology | TopologyDocument,
        *,
        initial_wall_clock_time: Time = 0,
        spark: SparkSession | None = None,
    ) -> None:
        document = resolved(topology.document() if isinstance(topology, Topology) else topology)
        program = topology if isinstance(topology, Topology) else None
        self._places = program.places if program else {}
        self._outside = program.outside if program else Outside()
        self.drops: list[Drop] = []
        self._wall_clock = milliseconds(initial_wall_clock_time)
        self._topics = document.get("topics") or {}
        #: rows of the operator or, after the end, records
        self._queues: dict[str, deque[OperatorRow | TestRecord]] = {}
        self._offsets: dict[tuple[str, int], int] = {}
        self._sequence = 0
        self._sinks: dict[int, tuple[SinkValues, SinkValues]] = {}
        self._driver: Any = None
        shared = spark or session()
        places = program.places if program else None
        graph = compiled(document, analyzer_of(shared), places).require_task_graph()
        graph = placed(graph, self._outside)
        name = f"test-{uuid.uuid4().hex[:8]}"
        with _explained():
            self._memory = Memory(shared, name)
            self._job = Job(shared, self._memory, graph, name=name, run=name)
            self._driver = columns.gateway().TestDriver.open(
                shared._jsparkSession, json.dumps(self._job.graph), json.dumps(self._job.options),
                json.dumps(self._job.readings), self._wall_clock,
            )  # fmt: skip
        failed = self._driver.failure()
        if failed is not None:
            self.close()
            raise self._failure(failed)
        self._specs = {spec["name"]: spec for spec in json.loads(self._driver.stores())}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the processors and delete the stores. Records that were not read stay readable."""
        if self._driver is not None:
            driver, self._driver = self._driver, None
            for name in list(self._queues):
                self._queues[name] = deque(
                    row if isinstance(row, TestRecord) else self._record_of(driver, row, None, None)
                    for row in self._queues[name]
                )
            self._print(json.loads(driver.close())["logs"])
            self._memory.close()

    # -- topics ----------------------------------------------------------------------------------

    def input_topic(
        self,
        topic: str,
        key: Format | None = None,
        value: Format | None = None,
        start_timestamp: Time | None = None,
        auto_advance: Duration = 0,
    ) -> TestInputTopic:
        """Return an input topic.

        `key`, `value`: formats of the piped keys and values (default: those of the source);
        `bytes_()` pipes bytes as they are. `start_timestamp`: of records without one (default: the
        wall clock's time). Raises MillraceError `topic_unknown` for a topic that is not read.
        """
        formats = self._job.formats_of(topic)
        if formats is None:
            raise _unknown("topic", topic, self._job.source_topics, "The topology does not read")
        start = self._wall_clock if start_timestamp is None else start_timestamp
        with _explained():
            keys = FormatSerde(key or formats[0], f"the key of {topic}")
            values = FormatSerde(value or formats[1], f"the value of {topic}")

        def send(
            key: bytes | None, value: bytes | None, timestamp: int,
            headers: list[tuple[str, bytes | None]], partition: int, record: TestRecord,
        ) -> None:  # fmt: skip
            pairs = [(name, _base64(raw)) for name, raw in headers]
            made = self._record(topic, partition, timestamp, _base64(key), _base64(value), pairs)
            self._step([made], record)

        return TestInputTopic(topic, keys, values, start, auto_advance, send)

    create_input_topic = input_topic

    def output_topic(
        self, topic: str, key: Format | None = None, value: Format | None = None
    ) -> TestOutputTopic:
        """Return an output topic.

        `key`, `value`: formats of the read keys and values (default: those of the sink; for dead
        letters, bytes). Raises MillraceError `topic_unknown` for a topic that no sink can write.
        """
        written = self._job.sink_topics
        chosen = any(node["params"].get("topic_expression") for node in self._job.graph["nodes"])
        if topic not in written and not chosen and topic not in self._queues:
            raise _unknown("topic", topic, written, "The topology does not write")
        read_key = None if key is None else FormatSerde(key, f"the key of {topic}")
        read_value = None if value is None else FormatSerde(value, f"the value of {topic}")

        def waiting() -> deque[OperatorRow | TestRecord]:
            return self._queues.get(topic) or deque()

        def take() -> OperatorRow | TestRecord:
            return self._queues[topic].popleft()

        def decode(row: Any) -> TestRecord:
            if isinstance(row, TestRecord):
                return row
            with _explained():
                return self._record_of(self._open(), row, read_key, read_value)

        return TestOutputTopic(topic, waiting, take, decode)

    create_output_topic = output_topic

    @property
    def produced_topic_names(self) -> set[str]:
        """The topics to which something was written so far."""
        return set(self._queues)

    def _record_of(
        self, driver: Any, row: OperatorRow, key: Serde | None, value: Serde | None
    ) -> TestRecord:
        own = self._values(driver, row["dest"])
        return TestRecord(
            (key or own[0]).decode(_bytes(row["key_bytes"])),
            (value or own[1]).decode(_bytes(row["value_bytes"])),
            row["timestamp"],
            [(name, _bytes(raw)) for name, raw in row["headers"]],
            row["partition"],
        )

    def _values(self, driver: Any, dest: int) -> Any:
        if dest < 0:  # a dead letter: the bytes of the record that failed
            raw = FormatSerde(_RAW, "the dead letter")
            return raw, raw
        if dest not in self._sinks:
            types = json.loads(driver.sink(dest))
            self._sinks[dest] = (
                SinkValues(types["key"], lambda raw: str(driver.read(dest, "key", raw))),
                SinkValues(types["value"], lambda raw: str(driver.read(dest, "value", raw))),
            )
        return self._sinks[dest]

    # -- time ------------------------------------------------------------------------------------

    def advance_wall_clock(self, advance: Duration) -> None:
        """Advance the wall clock, which runs the punctuations that are due.

        Raises ValueError for a negative duration.
        """
        by = duration(advance)
        if by < 0:
            raise ValueError(f"the wall clock only advances, found {advance!r}")
        self._wall_clock += by
        self.tick({"wall_clock": self._wall_clock})

    advance_wall_clock_time = advance_wall_clock

    def tick(self, command: Mapping[str, object]) -> None:
        """Send a control row to all tasks."""
        value = _base64(json.dumps(command).encode())
        self._step([self._record(CONTROL_TOPIC, 0, 0, None, value, [])], None)

    # -- stores ----------------------------------------------------------------------------------

    @property
    def stores(self) -> dict[str, object]:
        """All stores that the topology names."""
        return {name: self.store(name) for name, spec in self._specs.items() if spec["named"]}

    get_all_state_stores = stores

    def store(self, name: str, partition: int | None = None) -> Any:
        """Return a store by its name, to read and to fill it.

        It has the methods that processors use; a store of a table also has timestamps. A table
        without a named store is found by its node. `partition`: only the part of one task (default:
        all; a key is written to the task of Kafka's partitioner).

        Raises MillraceError `store_unknown`.
        """
        spec = self._specs.get(name)
        if spec is None:
            raise _unknown("store", name, self._specs, "The topology has no store")
        if partition is not None and not 0 <= partition < spec["tasks"]:
            raise MillraceError(
                "partition_unknown",
                f"The store {name} has {spec['tasks']} partitions, numbered from 0, found "
                f"{partition}.",
            )

        def operate(task: int, message: list[Any]) -> Any:
            with _explained():
                found = json.loads(self._open().store(name, task, json.dumps(message)))
            self._note(found, None)
            return found["answer"]

        def task_of(key: Any) -> int:
            return int(self._open().partition(name, json.dumps(key)))

        return open_store(spec, operate, task_of, partition)

    get_state_store = store
    get_key_value_store = store
    get_timestamped_key_value_store = store
    get_versioned_key_value_store = store
    get_window_store = store
    get_timestamped_window_store = store
    get_session_store = store
    get_timestamped_key_value_store_with_headers = store
    get_timestamped_window_store_with_headers = store
    get_session_store_with_headers = store

    # -- steps -----------------------------------------------------------------------------------

    def _open(self) -> Any:
        if self._driver is None:
            raise MillraceError("driver_closed", "The test driver is closed.")
        return self._driver

    def _record(
        self, topic: str, partition: int, timestamp: int, key: str | None, value: str | None,
        headers: list[tuple[str, str | None]],
    ) -> OperatorRecord:  # fmt: skip
        offset = self._offsets.get((topic, partition), 0)
        self._offsets[topic, partition] = offset + 1
        self._sequence += 1
        return {
            "topic": topic, "partition": partition, "offset": offset, "timestamp": timestamp,
            "merge": self._sequence, "key": key, "value": value, "headers": headers,
        }  # fmt: skip

    def _step(self, records: list[OperatorRecord], cause: TestRecord | None) -> None:
        """Process records, and those that they cause in topics that the topology reads itself."""
        driver = self._open()
        driver.mark()
        written: list[OperatorRow] = []
        drops = len(self.drops)
        while records:
            with _explained():
                found = json.loads(driver.feed(json.dumps(records)))
            self._note(found, cause)
            records = []
            for row in found["rows"]:
                if row["dest"] == STOP:
                    driver.undo()
                    del self.drops[drops:]
                    raise self._failure(row["fault"])
                topic = str(row["topic"])
                if row["dest"] == LAST_LETTER:
                    self._queues.setdefault(topic, deque()).append(row)
                elif row["topic"] is not None:  # else a print
                    written.append(row)
                    if self._job.formats_of(topic) is not None:
                        records.append(self._looped(row, topic))
        for row in written:
            self._queues.setdefault(str(row["topic"]), deque()).append(row)

    def _failure(self, fault: str) -> RecordFailed:
        codes = {**self._outside.codes, **self._outside.called}
        return failure(json.loads(fault), self._places, codes)

    def _looped(self, row: OperatorRow, topic: str) -> OperatorRecord:
        count = int(self._topics.get(topic, {}).get("partitions", 1))
        partition = partition_of(row, count)
        parts = (row["timestamp"], row["key_bytes"], row["value_bytes"], row["headers"])
        return self._record(topic, partition, *parts)

    def _note(self, found: DriverStep, cause: TestRecord | None) -> None:
        for each in found["drops"]:
            self.drops += [Drop(each["node"], each["reason"], cause)] * each["count"]
        self._print(found.get("logs") or [])

    def _print(self, logs: list[LoggedLine]) -> None:
        for line in logs:
            stream = sys.stderr if line["level"] == "warning" else sys.stdout
            print(f"{line['node']}: {line['message']}", file=stream)


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except MillraceError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever Spark raises is explained
        raise explain(error) from None


def _unknown(what: str, name: str, known: Any, sentence: str) -> MillraceError:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    listed = ", ".join(names) or "none"
    return MillraceError(f"{what}_unknown", f"{sentence} {name}; it has {listed}.{hint}")


def _base64(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
