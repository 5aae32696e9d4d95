"""Names of internal topics and of stores that the document does not name.

By default they come from the ids of nodes. With the setting ``names`` they are those that Kafka
Streams gives the same topology: it numbers the calls of its DSL, so every call takes its numbers
here, in the same order, whether or not the name is used. Calls are those without arguments that
the document does not state: no ``Materialized`` without a store node, no ``Named``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from millrace_compiler.declarations.operator import Operator
from millrace_compiler.declarations.steps import Handle, Names

#: The inputs by port: each with the node and port that it comes from.
Inputs = Mapping[str, list[tuple[Handle, tuple[str, str]]]]


class InternalNames:
    """Names what each node makes, in the order in which Kafka Streams makes the nodes.

    ``read``: the nodes whose stores processors read by the node's id.
    """

    def __init__(self, names: Names, read: frozenset[str]) -> None:
        self._names = names
        self._calls = _Calls(names, read)

    def add(self, operator: Operator, inputs: Inputs) -> None:
        """Names what a node makes."""
        if self._names.kafka_streams:
            self._calls.add(operator, inputs)
        _Given(self._names, operator).add()


class _Given:
    """The names that the parameters of a node state."""

    def __init__(self, names: Names, operator: Operator) -> None:
        self.names, self.operator = names, operator
        self.id, self.values = operator.id, operator.values

    def add(self) -> None:
        given = self.values.get("repartition")
        if given:
            self._topics(str(given))
        for item in cast(Any, self.values.get("inputs") or ()):
            if getattr(item, "repartition", None):
                self.names.repartition(f"{self.id}-{item.port}", item.repartition)
        if self.values.get("store_name"):
            self._join_stores(str(self.values["store_name"]))

    def _topics(self, given: str) -> None:
        topics = self.names.topics
        match self.operator.kind:
            case "join.stream_stream":
                for side in ("left", "right"):
                    self.names.repartition(f"{self.id}-{side}", f"{given}-{side}")
            case "join.foreign_key":
                for part in ("registration", "response"):
                    end = f"-subscription-{part}-topic"
                    topics[self.id + end] = given + end
                store = "-subscription-store"
                self.names.stores[self.id, self.id + store] = given + store
            case _:
                self.names.repartition(self.id, given)

    def _join_stores(self, given: str) -> None:
        this, other, shared = {
            "inner": ("this", "other", ""),
            "left": ("this", "outer-other", "left"),
            "outer": ("outer-this", "outer-other", "outer"),
        }[str(self.values["type"])]
        for side, part in (("left", this), ("right", other), ("outer", f"{shared}-shared")):
            self.names.stores[self.id, f"{self.id}-{side}-store"] = f"{given}-{part}-join-store"


class _Calls:
    """The calls of Kafka Streams' DSL for each node, which number processors and stores."""

    def __init__(self, names: Names, read: frozenset[str]) -> None:
        self.names, self.read, self.index = names, read, 0
        #: The name of the processor whose records a stream has, by node and port.
        self.streams: dict[tuple[str, str], str] = {}

    def add(self, operator: Operator, inputs: Inputs) -> None:
        """Makes the calls of a node."""
        call = _CALLS.get(operator.kind)
        if call is not None:
            call(self, operator, inputs)

    # ---- numbers --------------------------------------------------------------------------

    def number(self, prefix: str) -> str:
        """The name of the next processor."""
        name = f"{prefix}{self.index:010d}"
        self.index += 1
        return name

    def store(self, operator: Operator, prefix: str, default: str | None = None) -> str:
        """The name of the operator's store, which takes a number only if it has none."""
        if operator.store is not None:
            return operator.store.store_name()
        if operator.id in self.read:
            return operator.id
        name = self.number(f"{prefix}STATE-STORE-")
        self.names.stores[operator.id, default or operator.id] = name
        return name

    def repartitioned(self, default: str, name: str) -> str:
        """Names a repartition topic, and takes the numbers of its sink, filter and source."""
        self.names.repartition(default, name)
        self.number("KSTREAM-SINK-")
        self.number("KSTREAM-FILTER-")
        return self.number("KSTREAM-SOURCE-")

    def updates(self, inputs: Inputs) -> int:
        """Turns tables at ``in`` into streams; returns the number of inputs."""
        found = inputs.get("in", [])
        for handle, _ in found:
            if handle.role == "table":
                self.number("KTABLE-TOSTREAM-")
        return len(found)

    # ---- kinds ----------------------------------------------------------------------------

    def stream(self, operator: Operator, inputs: Inputs) -> None:
        self.streams[operator.id, "out"] = self.number("KSTREAM-SOURCE-")

    def table(self, operator: Operator, inputs: Inputs) -> None:
        self.store(operator, f"{operator.values['topic']}-")
        self.pair(operator, inputs)

    def pair(self, operator: Operator, inputs: Inputs) -> None:
        self.number("KSTREAM-SOURCE-")
        self.number("KTABLE-SOURCE-")

    def to_table(self, operator: Operator, inputs: Inputs) -> None:
        name = self.number("KSTREAM-TOTABLE-")
        self.store(operator, "KSTREAM-TOTABLE-")
        if inputs["in"][0][0].key_changed:
            self.repartitioned(operator.id, name)

    def repartition(self, operator: Operator, inputs: Inputs) -> None:
        name = operator.values.get("name")
        if name:
            self.repartitioned(str(name), str(name))
        else:
            self.repartitioned(operator.id, self.number("KSTREAM-REPARTITION-"))

    def split(self, operator: Operator, inputs: Inputs) -> None:
        self.updates(inputs)
        splitter = self.number("KSTREAM-BRANCH-")
        for port in operator.outputs():
            self.index += 1
            self.streams[operator.id, port] = f"{splitter}{port}"

    def merge(self, operator: Operator, inputs: Inputs) -> None:
        self.streams[operator.id, "out"] = self.streams.get(inputs["in"][0][1], "")
        for _ in range(self.updates(inputs) - 1):
            self.streams[operator.id, "out"] = self.number("KSTREAM-MERGE-")

    def process(self, operator: Operator, inputs: Inputs) -> None:
        for port in operator.inputs():
            for _ in range(self.updates({"in": inputs[port.name]}) - 1):
                self.number("KSTREAM-MERGE-")
        fixed = "PROCESSVALUES" if operator.kind == "process_values" else "PROCESSOR"
        name = self.number(f"KSTREAM-{fixed}-")
        for output in operator.outputs():
            self.streams[operator.id, output] = name

    def sink(self, operator: Operator, inputs: Inputs) -> None:
        for _ in range(self.updates(inputs)):
            self.number("KSTREAM-SINK-")

    def aggregation(self, operator: Operator, inputs: Inputs) -> None:
        handle = inputs["in"][0][0]
        if handle.role == "table":
            self.number("KTABLE-SELECT-")
            store = self.store(operator, "KTABLE-AGGREGATE-")
            for prefix in ("KSTREAM-SINK-", "KSTREAM-SOURCE-", "KTABLE-AGGREGATE-"):
                self.number(prefix)
            self.names.repartition(operator.id, store)
            return
        changed = handle.key_changed
        if operator.values.get("group_by") is not None:
            self.number("KSTREAM-KEY-SELECT-")
            changed = True
        prefix = "KSTREAM-REDUCE-" if operator.kind == "reduce" else "KSTREAM-AGGREGATE-"
        store = self.store(operator, prefix)
        self.number(prefix)
        if changed:
            self.repartitioned(operator.id, store)

    def cogroup(self, operator: Operator, inputs: Inputs) -> None:
        items = cast(Any, operator.values["inputs"])
        for item in items:
            if item.group_by is not None:
                self.number("KSTREAM-KEY-SELECT-")
        store = self.store(operator, "COGROUPKSTREAM-AGGREGATE-")
        for item in items:
            if item.group_by is not None or inputs[item.port][0][0].key_changed:
                self.repartitioned(f"{operator.id}-{item.port}", store)
        self.index += len(items) + 1

    def suppress(self, operator: Operator, inputs: Inputs) -> None:
        self.number("KTABLE-SUPPRESS-")
        self.store(operator, "KTABLE-SUPPRESS-", f"{operator.id}-store")

    # ---- joins ----------------------------------------------------------------------------

    def for_join(self, inputs: Inputs, port: str, default: str) -> None:
        handle, source = inputs[port][0]
        if handle.key_changed:
            self.repartitioned(default, self.streams[source])

    def stream_stream(self, operator: Operator, inputs: Inputs) -> None:
        id_, type_ = operator.id, str(operator.values["type"])
        for side in ("left", "right"):
            self.for_join(inputs, side, f"{id_}-{side}")
        self.index += 2
        this = self.number("KSTREAM-OUTERTHIS-" if type_ == "outer" else "KSTREAM-JOINTHIS-")
        other = self.number("KSTREAM-JOINOTHER-" if type_ == "inner" else "KSTREAM-OUTEROTHER-")
        stores = self.names.stores
        stores[id_, f"{id_}-left-store"] = f"{this}-store"
        stores[id_, f"{id_}-right-store"] = f"{other}-store"
        stores[id_, f"{id_}-outer-store"] = f"KSTREAM-OUTERSHARED-{this[-10:]}-store"
        self.streams[id_, "out"] = self.number("KSTREAM-MERGE-")

    def filter(self, operator: Operator, inputs: Inputs) -> None:
        # A rule takes no number: adding or removing it keeps the names of the nodes after it.
        if getattr(operator, "is_rule", False):
            (_, before), *_ = inputs["in"]
            self.streams[operator.id, "out"] = self.streams.get(before, operator.id)
        else:
            self.streams[operator.id, "out"] = self.number("KSTREAM-FILTER-")

    def stream_table(self, operator: Operator, inputs: Inputs) -> None:
        self.for_join(inputs, "left", operator.id)
        kind = "LEFTJOIN" if operator.values["type"] == "left" else "JOIN"
        name = self.number(f"KSTREAM-{kind}-")
        self.names.stores[operator.id, f"{operator.id}-buffer"] = f"{name}-Buffer"
        self.streams[operator.id, "out"] = name

    def stream_global_table(self, operator: Operator, inputs: Inputs) -> None:
        self.streams[operator.id, "out"] = self.number("KSTREAM-LEFTJOIN-")

    def table_table(self, operator: Operator, inputs: Inputs) -> None:
        self.index += 3

    def foreign_key(self, operator: Operator, inputs: Inputs) -> None:
        id_, prefix = operator.id, "KTABLE-FK-JOIN-SUBSCRIPTION-"
        topics = self.names.topics
        registration = self.number(f"{prefix}REGISTRATION-")
        topics[f"{id_}-subscription-registration-topic"] = f"{registration}-topic"
        self.index += 3
        store = self.number(f"{prefix}STATE-STORE-")
        self.names.stores[id_, f"{id_}-subscription-store"] = store
        self.index += 3
        topics[f"{id_}-subscription-response-topic"] = f"{self.number(f'{prefix}RESPONSE-')}-topic"
        self.index += 4
        self.store(operator, "KTABLE-FK-JOIN-OUTPUT-")


def _one(prefix: str) -> Callable[[_Calls, Operator, Inputs], None]:
    """A call that takes one number, such as ``mapValues`` of a stream or a table."""

    def call(calls: _Calls, operator: Operator, inputs: Inputs) -> None:
        if operator.kind == "peek":
            calls.updates(inputs)
        calls.streams[operator.id, "out"] = calls.number(prefix)

    return call


_CALLS: Mapping[str, Callable[[_Calls, Operator, Inputs], None]] = {
    "source.stream": _Calls.stream,
    "source.table": _Calls.table,
    "source.global_table": _Calls.table,
    "source.global_store": _Calls.pair,
    "filter": _Calls.filter,
    "filter_not": _Calls.filter,
    "map": _one("KSTREAM-MAP-"),
    "map_values": _one("KSTREAM-MAPVALUES-"),
    "select_key": _one("KSTREAM-KEY-SELECT-"),
    "flat_map": _one("KSTREAM-FLATMAP-"),
    "flat_map_values": _one("KSTREAM-FLATMAPVALUES-"),
    "peek": _one("KSTREAM-PEEK-"),
    "to_stream": _one("KTABLE-TOSTREAM-"),
    "to_table": _Calls.to_table,
    "repartition": _Calls.repartition,
    "split": _Calls.split,
    "merge": _Calls.merge,
    "process": _Calls.process,
    "process_values": _Calls.process,
    "sink.topic": _Calls.sink,
    "sink.print": _Calls.sink,
    "count": _Calls.aggregation,
    "reduce": _Calls.aggregation,
    "aggregate": _Calls.aggregation,
    "cogroup": _Calls.cogroup,
    "suppress": _Calls.suppress,
    "join.stream_stream": _Calls.stream_stream,
    "join.stream_table": _Calls.stream_table,
    "join.stream_global_table": _Calls.stream_global_table,
    "join.table_table": _Calls.table_table,
    "join.foreign_key": _Calls.foreign_key,
}
