"""``filter``: keeps the records for which a predicate is true."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import StreamOrTable
from millrace_compiler.parameters.parameters import Choice, Expression
from millrace_compiler.parameters.summaries import Sentence
from millrace_compiler.types.types import BOOLEAN

#: what happens to records that are not kept
REJECTED = ("drop", "drop_and_count", "count", "warn", "dead_letter", "stop")


class Filter(StreamOrTable):
    """Keeps records for which the predicate is true."""

    kind = "filter"
    title = "Filter"
    positional = ("predicate",)
    icon = "filter"
    place = 1
    help = (
        "Forwards records for which the predicate is true; null counts as false. On a table, a "
        "row that no longer matches is deleted from the result [KT3]."
    )
    guarantee = "Keeps the order of records [ST1]."
    synonyms = ("where", "keep", "select rows", "condition", "过滤", "筛选")
    rules = ("KT3",)

    predicate = Expression(
        "Predicate", "A record is kept if this is true; null counts as false.", expects="BOOLEAN"
    )

    rejected = Choice(
        "Rejected records",
        "What happens to a record that is not kept. Drop: nothing else; drop and count: it counts "
        "as dropped; count: it is counted and forwarded; warn: also logged as a warning, and the "
        "alert condition for rejected records applies; dead letter: it is dropped, and its source "
        "record is written to the dead letter topic; stop: the job stops at it. Rows of tables "
        "are always dropped.",
        REJECTED,
        default="drop",
    )

    @property
    def is_rule(self) -> bool:
        """Whether rejected records are more than dropped, for which Kafka Streams has no call."""
        return self.rejected != "drop"

    @property
    def calls_for_streams(self) -> bool:
        return self.is_rule

    @property
    def forwards_rejected(self) -> bool:
        """Whether rejected records are forwarded too."""
        return self.rejected in ("count", "warn")

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        if self.is_rule and port.role != "stream":
            scope.fault("rejected_rows", "rejected")
        once = port.role == "stream"
        yield [scope.ask("predicate", self.predicate, port.record(), BOOLEAN, once=once)]
        return {"out": self.result(scope, port)}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        if self.is_rule:
            made = self.lower_over(to, predicate=self.predicate, rejected=self.rejected)
        else:
            made = self.lower_over(to, predicate=self.predicate)
        return {"out": made}

    def kept(self) -> str:
        """The condition for records that are kept."""
        return self.predicate

    def summary(self) -> Sentence:
        if self.is_rule:
            return Sentence("expects {predicate}", predicate=self.predicate)
        return Sentence("keeps {predicate}", predicate=self.predicate)
