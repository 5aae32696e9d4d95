"""``flat_map``: turns a record into any number of records."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import STREAM_IN, STREAM_OUT
from millrace_compiler.parameters.parameters import Expression
from millrace_compiler.parameters.summaries import Sentence


class FlatMap(Operator):
    "Turns each record into zero or more records with new keys."

    kind = "flat_map"
    title = "Flat map"
    positional = ("records",)
    icon = "sitemap"
    place = 6
    help = (
        "The expression returns an array of structs with key and value; each becomes a record. An "
        "empty array produces no record, a null array is a processing error [NU2]. The key counts "
        "as changed [RP1]."
    )
    guarantee = "The results of a record stay together, in the order of the array [ST2]."
    synonyms = ("explode", "unnest", "split", "expand", "multiply", "展开")
    rules = ("NU2", "RP1")
    in_ports = STREAM_IN
    out_ports = STREAM_OUT
    changes_key = True

    records = Expression("Records", "An array of structs: ARRAY<STRUCT<key, value>>.")

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        [found] = yield [scope.ask("records", self.records, port.record(), once=True)]
        key = value = None
        if found is not None:
            element = found.inner[0] if found.name == "ARRAY" else None
            if element is not None and element.fields == ("key", "value"):
                key, value = element.inner
            else:
                needed = "ARRAY<STRUCT<key, value>>"
                scope.fault("expression_type", "records", found=found.text, needed=needed)
        return {"out": port.rekeyed(key, value)}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {"out": to.step("flat_map", to.input(), changes="key", records=self.records)}

    def summary(self) -> Sentence:
        return Sentence("each of {values}", values=self.records)
