"""``source.global_table``: reads a topic as a table, of which every task has a full copy."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calls import Call, call, format_words
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope, no_questions
from millrace_compiler.declarations.ports import OutPort
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.sources.base import Source, source_step
from millrace_compiler.operators.stores.fit import check_store
from millrace_compiler.parameters.parameters import Topic
from millrace_compiler.parameters.summaries import Sentence


class SourceGlobalTable(Source):
    "Reads a topic as a table that is fully replicated to every task."

    kind = "source.global_table"
    title = "Global table from a topic"
    icon = "world-download"
    place = 3
    help = (
        "Reads a topic as a table that is fully replicated to every task, so that a stream can be "
        "joined with it by any expression and without a shuffle [GK1]. It is not synchronized "
        "with stream time [GK2]. Joins look up its rows, and processors read its store [GK3]."
    )
    guarantee = "All rows in every task; not synchronized with stream time [GK2]."
    why = "A broadcast in Spark is read once; a global table follows its topic."
    synonyms = ("globalktable", "broadcast", "dimension", "enrich", "lookup", "全局表")
    topic_parameters = ("topic",)
    rules = ("GK1", "GK2", "GK3")
    out_ports = (OutPort("out", "global_table"),)
    first = ("topic",)
    takes_store = ("store.key_value",)
    unnamed_store = "on_demand"
    stateful = True
    reads_whole_topic = True

    topic = Topic("Topic", "The topic to read.")

    def topic_names(self) -> tuple[str, ...]:
        return (self.topic,)

    def infer(self, scope: Scope) -> Inference:
        port = self.port("global_table")
        check_store(scope, self.takes_store, port)
        return no_questions({"out": port})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        where = {"topic": self.topic}
        params = {"store": self.store_json()}
        handle = source_step(to, self, "global_table", "global_table", where, params)
        return {"out": handle}

    def words(self) -> list[Call]:
        made = call(
            "global_table",
            self.topic,
            key=format_words(self.key),
            value=format_words(self.value),
        )
        return [self.with_store(made)]

    def summary(self) -> Sentence:
        return Sentence("{topic} · all rows on every task", topic=self.topic)
