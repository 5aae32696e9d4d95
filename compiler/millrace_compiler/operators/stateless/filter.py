"""``filter``: keeps the records for which a predicate is true."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import StreamOrTable
from millrace_compiler.parameters.parameters import Expression
from millrace_compiler.parameters.summaries import Sentence
from millrace_compiler.types.types import BOOLEAN


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

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        once = port.role == "stream"
        yield [scope.ask("predicate", self.predicate, port.record(), BOOLEAN, once=once)]
        return {"out": self.result(scope, port)}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {"out": self.lower_over(to, predicate=self.predicate)}

    def kept(self) -> str:
        """The condition for records that are kept."""
        return self.predicate

    def summary(self) -> Sentence:
        return Sentence("keeps {predicate}", predicate=self.predicate)
