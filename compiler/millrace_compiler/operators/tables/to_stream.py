"""``to_stream``: converts a table to the stream of its updates."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope, no_questions
from millrace_compiler.declarations.ports import InPort
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import STREAM_OUT
from millrace_compiler.operators.tables.updates import updates
from millrace_compiler.parameters.summaries import Sentence


class ToStream(Operator):
    "Turns a table into a stream of its updates."

    kind = "to_stream"
    title = "To stream"
    icon = "table-export"
    place = 2
    help = (
        "Each change of a row becomes a record with the row's key and new value; a delete becomes "
        "a null value."
    )
    guarantee = "Every update as a record, in order; deletes have null values [KT1]."
    synonyms = ("changelog", "updates", "changes", "cdc", "变更流")
    in_ports = (InPort("in", ("table",)),)
    out_ports = STREAM_OUT

    def infer(self, scope: Scope) -> Inference:
        return no_questions({"out": updates(scope.one())})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {"out": to.step("to_stream", to.input())}

    def summary(self) -> Sentence:
        return Sentence("updates of the table")
