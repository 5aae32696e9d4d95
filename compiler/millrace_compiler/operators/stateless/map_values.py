"""``map_values``: computes a new value for the same key."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import StreamOrTable
from millrace_compiler.parameters.parameters import Expression
from millrace_compiler.parameters.summaries import Sentence


class MapValues(StreamOrTable):
    "Computes a new value for each record and keeps the key."

    kind = "map_values"
    title = "Map values"
    positional = ("value",)
    icon = "replace"
    place = 4
    help = (
        "One record in, one record out; the key does not change, so no repartition follows. On a "
        "table, deletes are forwarded without evaluating the expression [KT4]."
    )
    guarantee = "One result for each record, in order, with its key, timestamp and headers [ST2]."
    synonyms = ("transform", "project", "compute", "derive", "enrich", "convert", "计算")
    rules = ("KT4",)
    forwards_all = True

    value = Expression("Value", "The new value.")

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        once = port.role == "stream"
        [value] = yield [scope.ask("value", self.value, port.record(), once=once)]
        return {"out": self.result(scope, port.with_value(value))}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {"out": self.lower_over(to, changes="value", value=self.value)}

    def summary(self) -> Sentence:
        return Sentence("value {value}", value=self.value)
