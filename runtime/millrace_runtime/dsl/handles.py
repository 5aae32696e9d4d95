"""Base classes of streams and tables: output ports of nodes, and methods that write records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from millrace_compiler.declarations.functions import RECORD
from millrace_compiler.types.types import INT, STRING

from millrace_runtime.code.places import Place
from millrace_runtime.dsl.called import Called
from millrace_runtime.dsl.functions import Expression, Site, record
from millrace_runtime.dsl.nodes import About, End, Nodes
from millrace_runtime.dsl.stores import Store
from millrace_runtime.formats import Format
from millrace_runtime.keywords import Checked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from millrace_runtime.job.outside import BatchFunction


class Handle(Checked):
    """An output port of a node. Returned by the methods of a topology; not created directly."""

    def __init__(self, nodes: Nodes, node: str, port: str = "out") -> None:
        self._nodes, self._end = nodes, End(node, port)

    def _add(
        self,
        kind: str,
        params: Mapping[str, object],
        about: About,
        *,
        inputs: Sequence[tuple[Handle, str]] = (),
        port: str = "in",
        stores: Sequence[Store | Handle | None] = (),
        places: Sequence[Place] = (),
    ) -> str:
        ends = [(self._end, port)]
        for other, at in inputs:
            if not isinstance(other, Handle):
                raise TypeError(f"{kind} takes a stream or a table, found {other!r}")
            if other._nodes is not self._nodes:
                raise ValueError(f"{kind}: {other._end.node} belongs to another topology")
            ends.append((other._end, at))
        kept = [self._store(kind, each) for each in stores if each is not None]
        return self._nodes.add(kind, params, ends, about, kept, places)

    def _store(self, kind: str, store: Store | Handle) -> Store | End:
        """The store, or the output port of the table whose store a processor reads."""
        if not isinstance(store, Handle):
            return store
        if store._nodes is not self._nodes:
            raise ValueError(f"{kind}: {store._end.node} belongs to another topology")
        return store._end

    def __repr__(self) -> str:
        port = "" if self._end.port == "out" else f", port {self._end.port}"
        return f"<{type(self).__name__} {self._end.node}{port}>"


class Writable(Handle):
    """Records that can be written to topics, the log, DataFrames and functions."""

    def to(
        self,
        topic: str | None = None,
        *,
        topic_expression: Expression | None = None,
        key: Format | None = None,
        value: Format | None = None,
        partition: Expression | None = None,
        also: Sequence[Handle] = (),
        **about: Unpack[About],
    ) -> None:
        """Write the records to a topic, or to a topic computed for each record.

        `key`, `value`: formats (default: the format that matches the type). `partition`: an INT
        expression (default: Kafka's partitioner). `also`: further streams to write.
        """
        called = Called(self._nodes.functions)
        params = {
            "topic": topic,
            "topic_expression": self._of_record(
                called, "topic_expression", topic_expression, about
            ),
            "key": key,
            "value": value,
            "partition": self._of_record(called, "partition", partition, about),
        }
        inputs = [(other, "in") for other in also]
        made = self._add("sink.topic", called.added_to(params), about, inputs=inputs)
        called.keep(self._nodes, made)

    def _of_record(self, called: Called, parameter: str, given: Any, about: About) -> Any:
        """The text of an expression over a record."""
        expects = INT if parameter == "partition" else STRING
        columns = record(self._nodes.functions.port(self._end))
        site = Site("to", parameter, columns, RECORD, expects)
        return called.text(given, site, about.get("name"))

    def foreach_batch(self, function: BatchFunction, **about: Unpack[About]) -> None:
        """Call a function with the records of each micro-batch, as Spark's `foreachBatch` does.

        `function(df, number)`: `df` has the columns `key`, `value` (of the stream's types),
        `timestamp` and `headers`; its rows are unordered, and deletes of a table have a null value.
        The function is called after the batch was written to the topics. After a failure, it is
        called again with the same number: store the number with the results to apply each batch
        exactly once.
        """
        node = self._outside("foreach_batch", about)
        self._nodes.outside.functions[node] = function

    def to_dataframe(
        self,
        spark: SparkSession,
        bootstrap_servers: str | None = None,
        *,
        options: Mapping[str, str] | None = None,
        max_records: int = 200_000,
        **about: Unpack[About],
    ) -> DataFrame:
        """Return the records as a streaming DataFrame for a query of your own.

        It has the columns `key`, `value` (of the stream's types), `timestamp` and `headers`. Write
        it in output mode append, with an ordinary Spark checkpoint. The topology must not have
        other sinks. For the arguments, see `Topology.start`.
        """
        node = self._outside("dataframe", about)
        self._nodes.outside.dataframes.add(node)
        made: DataFrame = self._nodes.dataframe(
            node, spark, bootstrap_servers=bootstrap_servers, options=options,
            max_records=max_records,
        )  # fmt: skip
        return made

    def _outside(self, what: str, about: About) -> str:
        """Add a sink that does not write to a broker; its topic is only a name."""
        named = about.get("name") or self._nodes.free_id(what.replace("_", "-"))
        about = About(**{**about, "name": named})
        return self._add("sink.topic", {"topic": f"{what}.{named}"}, about)

    def print(
        self,
        prefix: str | None = None,
        *,
        also: Sequence[Handle] = (),
        **about: Unpack[About],
    ) -> None:
        """Write each record to the log, prefixed with `prefix` (default: the node's name)."""
        inputs = [(other, "in") for other in also]
        self._add("sink.print", {"label": prefix}, about, inputs=inputs)
