"""``peek``: logs a message for each record."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import STREAM_OR_TABLE, STREAM_OUT
from millrace_compiler.operators.tables.updates import updates
from millrace_compiler.parameters.parameters import Expression
from millrace_compiler.parameters.summaries import Sentence
from millrace_compiler.types.types import STRING


class Peek(Operator):
    "Logs a message for each record and forwards it unchanged."

    kind = "peek"
    title = "Peek"
    positional = ("message",)
    icon = "eye"
    place = 8
    help = "The message is written to the deployment's log; the record is not changed."
    guarantee = "One line for each record, in order; after a crash, lines may be repeated."
    why = "Spark may evaluate a DataFrame operation more than once; the stream task does not."
    synonyms = ("log", "debug", "inspect", "print", "tap", "查看")
    in_ports = STREAM_OR_TABLE
    out_ports = STREAM_OUT
    forwards_all = True
    has_effects = True

    message = Expression("Message", "The message, a string expression.", expects="STRING")

    def infer(self, scope: Scope) -> Inference:
        port = updates(scope.one())
        yield [scope.ask("message", self.message, port.record(), STRING, once=True)]
        return {"out": port}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {"out": to.step("peek", to.stream(), message=self.message)}

    def summary(self) -> Sentence:
        return Sentence("logs {message}", message=self.message)
