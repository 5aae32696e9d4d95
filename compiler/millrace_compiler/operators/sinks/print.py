"""``sink.print``: writes records to the log."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calls import Call, Input, with_keywords
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope, no_questions
from millrace_compiler.declarations.ports import InPort
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.parameters.parameters import Text, optional
from millrace_compiler.parameters.summaries import Sentence


class SinkPrint(Operator):
    """Writes records to the deployment's log."""

    kind = "sink.print"
    title = "To the log"
    icon = "terminal-2"
    place = 2
    help = "Writes one line for each record, prefixed with the label."
    guarantee = "One line for each record, in order; after a crash, lines may be repeated."
    why = "Spark's console sink prints a micro-batch as a table, and only its first rows."
    synonyms = ("print", "console", "debug", "log", "stdout", "打印")
    in_ports = (InPort("in", ("stream", "table"), many=True),)
    has_effects = True

    label_ = optional(Text("Label", "Prefix of each line. Default: the node's id."))

    def infer(self, scope: Scope) -> Inference:
        return no_questions({})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        streams = to.streams()
        for index, stream in enumerate(streams):
            suffix = f"-{index}" if len(streams) > 1 else ""
            to.step(
                "print",
                stream,
                id=f"{self.id}{suffix}",
                label=self.label_,
            )
        return {}

    def words(self) -> list[Call]:
        others = [Input("in", index) for index in range(1, self.incoming["in"])]
        made = Call("print", (self.label_,) if self.label_ else ())
        return [with_keywords(made, also=others or None)]

    def summary(self) -> Sentence:
        if self.label_:
            return Sentence("prints {label}", label=self.label_)
        return Sentence("prints each record")
