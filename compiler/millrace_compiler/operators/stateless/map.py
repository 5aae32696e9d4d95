"""``map``: computes a new key and a new value."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calling import Calling
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import STREAM_IN, STREAM_OUT
from millrace_compiler.parameters.parameters import Expression
from millrace_compiler.parameters.summaries import Sentence


class Map(Calling):
    "Computes a new key and a new value for each record."

    kind = "map"
    title = "Map"
    icon = "transform"
    place = 3
    help = (
        "One record in, one record out; expressions compute the key and the value. The key counts "
        "as changed, so a later grouping or join repartitions the stream [RP1]. If only the value "
        "changes, “Map values” avoids the repartition."
    )
    guarantee = "One result for each record, in order, with its timestamp and headers [ST2]."
    synonyms = ("transform", "project", "select", "convert", "映射")
    rules = ("RP1",)
    in_ports = STREAM_IN
    out_ports = STREAM_OUT
    forwards_all = True
    changes_key = True

    key = Expression("Key", "The new key.")
    value = Expression("Value", "The new value.")

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        columns = port.record()
        key, value = yield [
            scope.ask("key", self.key, columns, once=True),
            scope.ask("value", self.value, columns, once=True),
        ]
        return {"out": port.rekeyed(key, value)}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        made = to.step("map", to.input(), changes="key", key=self.key, value=self.value)
        return {"out": made}

    def summary(self) -> Sentence:
        return Sentence("key {key}, value {value}", key=self.key, value=self.value)
