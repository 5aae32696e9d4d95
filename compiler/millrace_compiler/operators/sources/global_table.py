"""``source.global_table``: a topic as a table that every task has whole."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.lowering import Handle, NodeLowering
from millrace_compiler.operator import Inference, Scope, no_questions
from millrace_compiler.operators.sources.base import Source, source_step
from millrace_compiler.operators.stores.fit import check_store
from millrace_compiler.parameters import Topic
from millrace_compiler.ports import OutPort


class SourceGlobalTable(Source):
    """A table of which every task has all rows."""

    kind = "source.global_table"
    title = "Global table from a topic"
    icon = "world-download"
    place = 3
    help = (
        "Reads a topic as a table that is whole on every task, so that a stream can be joined "
        "with it by any expression and without a shuffle [GK1]. It is not in step with the time of "
        "the streams [GK2] and can only be joined [GK3]."
    )
    synonyms = ("globalktable", "broadcast", "dimension", "enrich", "lookup", "全局表")
    rules = ("GK1", "GK2", "GK3")
    out_ports = (OutPort("out", "global_table"),)
    first = ("topic",)
    takes_store = ("store.key_value",)
    stateful = True

    topic = Topic("Topic", "The topic to read.")

    def topic_names(self) -> tuple[str, ...]:
        return (self.topic,)

    def infer(self, scope: Scope) -> Inference:
        port = self.port("global_table")
        check_store(scope, self.takes_store, port)
        return no_questions({"out": port})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        where = {"topic": self.topic}
        keywords = {"store": to.store()}
        handle = source_step(to, self, "global_table", "global_table", where, keywords)
        return {"out": handle}

    def summary(self) -> str:
        return f"all rows of {self.topic} on every task"
