"""``flat_map_values``: turns a record into any number of records with the same key."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import STREAM_IN, STREAM_OUT
from millrace_compiler.parameters.parameters import Expression
from millrace_compiler.parameters.summaries import Sentence


class FlatMapValues(Operator):
    "Turns each record into zero or more records with the same key."

    kind = "flat_map_values"
    title = "Flat map values"
    positional = ("values",)
    icon = "list-tree"
    place = 7
    help = (
        "The expression returns an array; each element becomes a record with the same key. An "
        "empty array produces no record, a null array is a processing error [NU2]."
    )
    guarantee = "The results of a record stay together, in the order of the array [ST2]."
    synonyms = ("explode", "split", "words", "unnest", "tokenize", "拆分")
    rules = ("NU2",)
    in_ports = STREAM_IN
    out_ports = STREAM_OUT

    values_ = Expression("Values", "An array: one record for each element.")

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        [found] = yield [scope.ask("values", self.values_, port.record(), once=True)]
        value = None
        if found is not None:
            if found.name == "ARRAY":
                value = found.inner[0]
            else:
                scope.fault("expression_type", "values", found=found.text, needed="ARRAY")
        return {"out": port.with_value(value)}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        made = to.step("flat_map_values", to.input(), changes="value", values=self.values_)
        return {"out": made}

    def summary(self) -> Sentence:
        return Sentence("each of {values}", values=self.values_)
