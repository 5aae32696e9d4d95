"""``select_key``: computes a new key for the same value."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import STREAM_IN, STREAM_OUT
from millrace_compiler.parameters.parameters import Expression
from millrace_compiler.parameters.summaries import Sentence


class SelectKey(Operator):
    "Computes a new key for each record and keeps the value."

    kind = "select_key"
    title = "Select key"
    positional = ("key",)
    icon = "key"
    place = 5
    help = (
        "Sets the key to an expression. The key counts as changed, so a later grouping or join "
        "repartitions the stream [RP1]."
    )
    guarantee = "One result for each record, in order, with its timestamp and headers [ST2]."
    synonyms = ("key by", "rekey", "partition by", "re-key", "选择键")
    rules = ("RP1",)
    in_ports = STREAM_IN
    out_ports = STREAM_OUT
    forwards_all = True
    changes_key = True

    key = Expression("Key", "The new key.")

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        [key] = yield [scope.ask("key", self.key, port.record(), once=True)]
        return {"out": port.rekeyed(key, port.value)}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {"out": to.step("select_key", to.input(), changes="key", key=self.key)}

    def summary(self) -> Sentence:
        return Sentence("key {key}", key=self.key)
