"""``source.table``: reads a topic as a table."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calls import Call, call, format_words
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope
from millrace_compiler.declarations.ports import OutPort
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.sources.base import TimedSource, source_step
from millrace_compiler.operators.stores.fit import check_store
from millrace_compiler.parameters.parameters import Topic
from millrace_compiler.parameters.summaries import Sentence


class SourceTable(TimedSource):
    "Reads a topic as a table: the latest value for each key."

    kind = "source.table"
    title = "Table from a topic"
    icon = "table-import"
    place = 2
    help = (
        "Reads a topic as a table: a record replaces the row of its key, and a null value deletes "
        "it [KT1]. Records with a null key are dropped and counted."
    )
    guarantee = "Every update in offset order, with the previous row [KT1]."
    why = (
        "Spark has no table that changes within a micro-batch; a stream–static join uses one "
        "state of the table for the whole batch."
    )
    synonyms = ("ktable", "changelog", "compacted", "upsert", "reference data", "lookup", "表")
    topic_parameters = ("topic",)
    rules = ("KT1", "KT2")
    out_ports = (OutPort("out", "table"),)
    first = ("topic",)
    takes_store = ("store.key_value", "store.versioned")
    unnamed_store = "on_demand"
    stateful = True

    topic = Topic("Topic", "The topic to read.")

    def topic_names(self) -> tuple[str, ...]:
        return (self.topic,)

    def infer(self, scope: Scope) -> Inference:
        port = self.port("table", history=self.history)
        check_store(scope, self.takes_store, port)
        return (yield from self.infer_port(scope, port))

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        window = to.out("out").window  # of a pinned edge
        closing = None if window is None else window.closing_delay
        params = {**self.time_params(), "store": self.store_json(), "closing_delay": closing}
        handle = source_step(to, self, "table", "table", {"topic": self.topic}, params)
        return {"out": handle}

    def words(self) -> list[Call]:
        made = call(
            "table",
            self.topic,
            key=format_words(self.key),
            value=format_words(self.value),
            **self.time_arguments(),
        )
        return [self.with_store(made)]

    def summary(self) -> Sentence:
        return Sentence("{topic} · latest value of each key", topic=self.topic)
