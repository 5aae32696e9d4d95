"""A topology, built by a program and converted to a document or started as a query."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

from millrace_compiler.declarations.functions import RECORD
from millrace_compiler.documents.document import FORMAT
from millrace_compiler.graphs.fragments import resolved
from millrace_compiler.parameters.settings import HANDLED
from millrace_compiler.types.types import TIMESTAMP
from millrace_model.documents import DocumentSettings, TopologyDocument

from millrace_runtime.code.code import ProcessorSource, code_of, handler_of
from millrace_runtime.code.modules import module
from millrace_runtime.code.places import calling
from millrace_runtime.dsl.arguments import require
from millrace_runtime.dsl.called import Called
from millrace_runtime.dsl.definitions import own_function
from millrace_runtime.dsl.functions import Expression, Site
from millrace_runtime.dsl.nodes import About, Nodes
from millrace_runtime.dsl.parameters import Default, ParameterType, declared
from millrace_runtime.dsl.readers import Reader
from millrace_runtime.dsl.records import GlobalTable
from millrace_runtime.dsl.stores import Store
from millrace_runtime.dsl.streams import Stream, Table
from millrace_runtime.errors import MillraceError, ProgramError
from millrace_runtime.formats import Format
from millrace_runtime.job.outside import GIVEN, Outside
from millrace_runtime.job.runnable import Runnable
from millrace_runtime.keywords import Checked
from millrace_runtime.processor import handling

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from millrace_runtime.job.outside import Frame

Optimization = Literal[
    "none",
    "all",
    "merge_repartition_topics",
    "reuse_ktable_source_topics",
    "single_store_self_join",
]
Handler = Literal["fail", "continue", "dead_letter", "dead_letter_then_fail"]
#: a function that handles errors, or `"file.py:function"` beside the program
Function = handling.Handler | str
InvalidTimestamp = Literal["fail", "skip", "partition_time"]
Start = Literal["earliest", "latest"]


class Topology(Checked):
    """A Kafka Streams topology.

    `partitions`: assumed number of partitions by topic (default 1). `labels`: whether the name or
    variable of a node without a comment is its label on the canvas. The other arguments are
    settings of the document: the handlers of deserialization, processing, production and uncaught
    errors, the dead letter topic, the processing guarantee, the names of internal topics and the
    optimization, as Kafka Streams' `topology.optimization`. A
    handler can be a function of a `FailedRecord` and a `RecordError` that returns a `Response`.
    `modules`: further modules beside the program for the code of processors; those that it imports
    need no mention.
    """

    def __init__(
        self,
        name: str,
        *,
        description: str | None = None,
        partitions: Mapping[str, int] | None = None,
        labels: bool = True,
        processing_guarantee: Literal["at_least_once", "exactly_once"] | None = None,
        deserialization_handler: Handler | Function | None = None,
        processing_handler: Handler | Function | None = None,
        production_handler: Literal["fail", "continue"] | Function | None = None,
        uncaught_exception_handler: Literal["stop", "replace_thread"] | None = None,
        dead_letter_topic: str | None = None,
        names: Literal["nodes", "kafka_streams"] | None = None,
        optimization: Optimization | None = None,
        modules: Sequence[str] = (),
    ) -> None:
        require(
            {} if partitions is None else partitions, Mapping, "partitions= takes numbers by topic"
        )
        self.name = name
        self.description = description
        self.partitions = dict(partitions or {})
        self._labels = labels
        settings = {
            "processing_guarantee": processing_guarantee,
            "deserialization_handler": deserialization_handler,
            "processing_handler": processing_handler,
            "production_handler": production_handler,
            "uncaught_exception_handler": uncaught_exception_handler,
            "dead_letter_topic": dead_letter_topic,
            "names": names,
            "optimization": optimization,
        }
        self.settings: dict[str, object] = {
            name: value for name, value in settings.items() if value is not None
        }
        self._nodes = Nodes(self._dataframe)
        self._place = calling()
        self._handle()
        folder = Path(self._place.file).resolve().parent
        self._modules = [module(name, [folder]) for name in modules]

    def _handle(self) -> None:
        """Replace each handler that is a function, or `"file.py:function"`, by its code."""
        for kind in HANDLED:
            given = self.settings.get(f"{kind}_handler")
            if callable(given) or (isinstance(given, str) and ":" in given):
                named = own_function(given, f"handle_{kind}", self._place)
                code = named or handler_of(given, self._place)
                self.settings |= {f"{kind}_handler": "function", f"{kind}_function": code.text}
                self.outside.handlers[kind] = code

    def param(
        self,
        name: str,
        default: Default,
        *,
        type: ParameterType | None = None,
        description: str | None = None,
        dev: Default | None = None,
        test: Default | None = None,
        prod: Default | None = None,
    ) -> str:
        """Declare a parameter and return the text that stands for its value, `${name}`.

        Use it as an argument, or within an expression: f"value.amount > {threshold}". `dev`,
        `test`, `prod`: the values in these environments, if they differ; the environment is the
        one in MILLRACE_ENVIRONMENT, or of the deployment. `type`: by default that of `default`
        (text, number or boolean); as part of an expression, a duration is in milliseconds.
        """
        values = {"dev": dev, "test": test, "prod": prod}
        given: dict[str, object] = {
            each: value for each, value in values.items() if value is not None
        }
        row = declared(default, type=type, description=description, values=given)
        known = self._nodes.parameters.setdefault(name, row)
        if known != row:
            raise ValueError(f"the parameter {name} is declared twice, with other values")
        return f"${{{name}}}"

    def stream(
        self,
        *topics: str,
        key: Format,
        value: Format,
        pattern: str | None = None,
        df: Frame | None = None,
        reader: Reader | None = None,
        partitions: int | None = None,
        timestamp: Expression | None = None,
        invalid_timestamp: InvalidTimestamp = "fail",
        start: Start = "earliest",
        **about: Unpack[About],
    ) -> Stream:
        """Read topics, or all topics whose full name matches `pattern`, as a stream.

        `key`, `value`: formats. `timestamp`: a TIMESTAMP or BIGINT (ms) expression (default: the
        timestamp of the Kafka record), or a function that returns a datetime or ms;
        `invalid_timestamp`: what to do if it is null or negative.

        With `reader` (see `reader`) or `df`, the records do not come from the broker. `df` is a
        streaming DataFrame with the columns `key`, `value` and `timestamp` (optionally `headers`,
        `topic`, `partition`, `offset`), or a function that creates one from the session. Columns
        have the types of the formats; BINARY columns are deserialized. The single topic then only
        names the records, and `partitions` (default 1) is its number of partitions; records are
        partitioned by key, as by Kafka's partitioner.
        """
        elsewhere = df is not None or reader is not None
        if df is not None and reader is not None:
            raise TypeError("a stream takes a DataFrame (df=) or a reader, not both")
        if elsewhere and (len(topics) != 1 or pattern is not None):
            raise TypeError("a stream of a DataFrame or a reader takes exactly one topic name")
        if partitions is not None and not elsewhere:
            raise TypeError("the partitions of a topic are set by Topology(partitions=...)")
        for topic in topics:
            require(topic, str, "stream takes names of topics")
        called = Called(self._nodes.functions)
        params = {
            "topics": list(topics) or None,
            "topic_pattern": pattern,
            **({"reader": GIVEN} if df is not None else reader.params if reader else {}),
            **self._read(key, value, timestamp, invalid_timestamp, start, called, about),
        }
        node = self._nodes.add("source.stream", params, [], about)
        called.keep(self._nodes, node)
        if partitions is not None:
            self.partitions[topics[0]] = partitions
        if df is not None:
            self._nodes.outside.frames[node] = df
        return Stream(self._nodes, node)

    def table(
        self,
        topic: str,
        *,
        key: Format,
        value: Format,
        timestamp: Expression | None = None,
        invalid_timestamp: InvalidTimestamp = "fail",
        start: Start = "earliest",
        store: Store | None = None,
        **about: Unpack[About],
    ) -> Table:
        """Read a topic as a table: the latest value for each key."""
        called = Called(self._nodes.functions)
        read = self._read(key, value, timestamp, invalid_timestamp, start, called, about)
        stores = [store] if store else []
        node = self._nodes.add("source.table", {"topic": topic, **read}, [], about, stores)
        called.keep(self._nodes, node)
        return Table(self._nodes, node)

    def global_table(
        self,
        topic: str,
        *,
        key: Format,
        value: Format,
        store: Store | None = None,
        **about: Unpack[About],
    ) -> GlobalTable:
        """Read a topic as a table that is fully replicated to every task."""
        params = {"topic": topic, "key": key, "value": value}
        stores = [store] if store else []
        made = self._nodes.add("source.global_table", params, [], about, stores)
        return GlobalTable(self._nodes, made)

    def add_global_store(
        self,
        topic: str,
        store: Store,
        processor: ProcessorSource,
        *,
        key: Format,
        value: Format,
        arguments: Mapping[str, object] | None = None,
        **about: Unpack[About],
    ) -> None:
        """Read a topic with a class that keeps its contents in a store, whole on every task.

        Any processor can read the store: `process(..., stores=[store])`. `processor`: a class with
        a method `process`, or an instance, as in `Stream.process`; it cannot forward records. The
        types of `store` are required.
        """
        code = code_of(processor, calling(), arguments)
        params = {"topic": topic, "key": key, "value": value, **code.params}
        made = self._nodes.add("source.global_store", params, [], about, [store])
        self._nodes.outside.codes[made] = code

    def _read(
        self,
        key: Format,
        value: Format,
        timestamp: Expression | None,
        invalid_timestamp: str,
        start: str,
        called: Called,
        about: About,
    ) -> dict[str, object]:
        """The parameters of a source of records."""
        functions = self._nodes.functions
        columns = functions.source({"key": key, "value": value}) if timestamp is not None else {}
        site = Site("stream", "timestamp", columns, RECORD)
        params = {
            "key": key,
            "value": value,
            "timestamp": called.text(timestamp, site, about.get("name"), TIMESTAMP),
            "invalid_timestamp": None if invalid_timestamp == "fail" else invalid_timestamp,
            "start": None if start == "earliest" else start,
        }
        return called.added_to(params)

    def add_store(self, store: Store) -> None:
        """Add a store that is not yet connected to an operator."""
        self._nodes.store(store)

    def start(
        self,
        spark: SparkSession,
        bootstrap_servers: str | None = None,
        *,
        checkpoint: str,
        options: Mapping[str, str] | None = None,
        trigger: str = "0 seconds",
        available_now: bool = False,
        max_records: int = 200_000,
    ) -> StreamingQuery:
        """Start the topology on a Spark session and a Kafka broker; return Spark's query.

        `spark`: a session created by `millrace_runtime.spark_session`, which has the operator and
        the required settings. `bootstrap_servers`: HOST:PORT; not needed without topics.
        `checkpoint`: folder for offsets and state. `options`: settings of Kafka's clients, such as
        `security.protocol`. `trigger`: time between micro-batches; `available_now`: process all
        available records, then stop. `max_records`: maximum number of records in a micro-batch.

        Raises MillraceError for an invalid topology, for missing topics, and for a checkpoint of
        another topology.
        """
        from millrace_runtime.driver.embedded import start

        return start(
            self.runnable(), spark, bootstrap_servers, checkpoint=checkpoint, options=options,
            trigger=trigger, available_now=available_now, max_records=max_records,
        )  # fmt: skip

    def describe(self, spark: SparkSession) -> str:
        """Return sub-topologies, tasks, stores and internal topics as `Topology#describe` does.

        `spark`: a session created by `millrace_runtime.spark_session`, which checks expressions.
        Raises MillraceError for an invalid topology.
        """
        from millrace_compiler.compilation.describe import description_of

        from millrace_runtime.analyzer.compiling import compiled, session_analyzer

        made = self.runnable()
        compilation = compiled(made.document, session_analyzer(spark), made.places)
        return description_of(compilation).text

    def main(self, argv: Sequence[str] | None = None) -> None:
        """Run on Spark and Kafka until stopped, then exit. For options: `python job.py --help`."""
        from millrace_runtime.driver.main import main

        main(self.runnable(), argv)

    @property
    def outside(self) -> Outside:
        """DataFrames and functions of nodes, which cannot be part of a document."""
        return self._nodes.outside

    def _dataframe(self, node: str, spark: SparkSession, **options: Any) -> DataFrame:
        from millrace_runtime.driver.embedded import dataframe

        return dataframe(self.runnable(), node, spark, **options)

    def document(self) -> TopologyDocument:
        """Return the topology document, which the canvas shows and a server deploys.

        Raises ProgramError for parts that cannot be in a document: `document_dataframe` for a
        stream of a DataFrame, `document_function` for records that go to a function or a DataFrame,
        and `document_import` for a processor that imports a module by a relative name.
        """
        order = [*self._nodes.places, *self._nodes.inner_places]
        found = sorted(self._not_in_documents(), key=lambda each: order.index(each[0].node or ""))
        if found:
            first = found[0][0]
            lines = [f"{place}, {error.node}: {error.message}" for error, place in found]
            raise ProgramError(
                first.code, "\n".join(lines), node=first.node, parameter=first.parameter
            )
        return self._compilable()

    def _not_in_documents(self) -> Iterator[tuple[MillraceError, str]]:
        """Yield what cannot be part of a document, with its place."""
        places = self.places
        for node in self.outside.frames:
            frame = MillraceError(
                "document_dataframe",
                "It reads a DataFrame, which cannot be part of a document. Use a reader instead: "
                'reader=reader("parquet", options={"path": ...}, schema=...), or write the '
                "data to a topic with another query.",
                node=node,
                parameter="df",
            )
            yield frame, places[node]
        for node in self.outside.sinks:
            sink = MillraceError(
                "document_function",
                "Its records go to a function or a DataFrame, which cannot be part of a "
                "document. Write them to a topic: .to(...).",
                node=node,
            )
            yield sink, places[node]
        for node, code in self.outside.codes.items():
            if code.relative is not None:
                line, name = code.relative
                file = Path(code.file).name
                imported = MillraceError(
                    "document_import",
                    f"The code of {code.class_name} imports {name}, but it has no package in a "
                    "document. Import the module by its full name.",
                    node=node,
                    parameter="code",
                )
                yield imported, f"{file}, line {line}"

    def runnable(self) -> Runnable:
        """Return the runnable form. Its document only names the DataFrames and functions."""
        environment = os.environ.get("MILLRACE_ENVIRONMENT")
        document = resolved(self._compilable(), environment)
        return Runnable(self.name, document, self.outside, self.places)

    @property
    def places(self) -> dict[str | None, str]:
        """The place of each node in the program, and of the topology (None): "job.py, line 3"."""
        found: dict[str | None, str] = {None: str(self._place)}
        for node, places in self._nodes.places.items():
            found[node] = str(places[-1])
        found |= {node: str(place) for node, place in self._nodes.inner_places.items()}
        return found

    def _packed(self) -> dict[str, str]:
        """The modules beside the program that its processors and handlers import."""
        outside = self.outside
        codes = (
            *outside.codes.values(), *outside.handlers.values(), *outside.windows.values(),
            *outside.called.values(),
        )  # fmt: skip
        found = {name: code for each in self._modules for name, code in each.items()}
        for code in codes:
            found |= code.modules
        return dict(sorted(found.items()))

    def _compilable(self) -> TopologyDocument:
        # In the order in which the fields are written.
        document = cast(TopologyDocument, {"format": FORMAT, "name": self.name})
        if self.description and self.description.strip():
            document["description"] = self.description.strip()
        settings = cast(DocumentSettings, dict(self.settings))
        modules = self._packed()
        if modules:
            settings["modules"] = modules
        if settings:
            document["settings"] = settings
        if self.partitions:
            counts = self.partitions.items()
            document["topics"] = {topic: {"partitions": count} for topic, count in counts}
        if self._nodes.parameters:
            document["parameters"] = dict(self._nodes.parameters)
        document["nodes"] = self._nodes.documented(labels=self._labels)
        document["edges"] = [edge.copy() for edge in self._nodes.edges]
        definitions = self._nodes.fragments.items()
        if definitions:
            document["fragments"] = {
                name: each.documented(labels=self._labels) for name, each in definitions
            }
        return document
