"""``repartition``: sends a stream through a repartition topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from millrace_compiler.declarations.calls import Call, call
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope, no_questions
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import STREAM_IN, STREAM_OUT
from millrace_compiler.parameters.parameters import Name, Whole, optional
from millrace_compiler.parameters.summaries import Sentence


class Repartition(Operator):
    "Redistributes records by key."

    kind = "repartition"
    title = "Repartition"
    icon = "arrows-shuffle"
    place = 11
    help = (
        "Sends the stream through a repartition topic, so that all records of a key are in one "
        "task. Groupings and joins repartition automatically where needed; use this node to set "
        "the number of partitions [RP3]. Records with a null key are dropped without being "
        "counted, unless a left or outer join of a stream follows downstream [RP5]."
    )
    guarantee = "All records of a key go to the same task, in order [RP2]."
    why = "Spark's repartition does not keep the order, and its hash differs from Kafka's."
    synonyms = ("shuffle", "through", "partitions", "redistribute", "rebalance", "重分区")
    rules = ("RP2", "RP3", "RP5")
    in_ports = STREAM_IN
    out_ports = STREAM_OUT

    partitions = optional(
        Whole(
            "Partitions",
            "Number of partitions. Default: the largest number of partitions among the sources "
            "before it.",
            maximum=10_000,
        )
    )
    name = optional(
        Name("Name", "Name of the topic without “-repartition”. Default: the node's id.")
    )

    def infer(self, scope: Scope) -> Inference:
        return no_questions({"out": replace(scope.one(), key_changed=False)})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {"out": to.repartition(to.input(), self.name or self.id, self.partitions)}

    def words(self) -> list[Call]:
        return [call("repartition", partitions=self.partitions, topic=self.name)]

    def summary(self) -> Sentence:
        if self.partitions:
            return Sentence("{n} partitions by key", n=str(self.partitions))
        return Sentence("by key")
