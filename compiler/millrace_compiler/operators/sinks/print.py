"""``sink.print``: records to the log."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.lowering import Handle, NodeLowering
from millrace_compiler.operator import Inference, Operator, Scope, no_questions
from millrace_compiler.parameters import Text, optional
from millrace_compiler.ports import InPort


class SinkPrint(Operator):
    """Writes records to the deployment's log."""

    kind = "sink.print"
    title = "To the log"
    icon = "terminal-2"
    place = 2
    help = "One line for each record, with the label before it."
    synonyms = ("print", "console", "debug", "log", "stdout", "打印")
    in_ports = (InPort("in", ("stream", "table"), many=True),)
    plain = True

    label_ = optional(
        Text("Label", "Stands before each line; empty: the node's id.", required=False)
    )

    def infer(self, scope: Scope) -> Inference:
        return no_questions({})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        streams = to.streams()
        for index, stream in enumerate(streams):
            suffix = f"-{index}" if len(streams) > 1 else ""
            to.step(
                "print_",
                stream,
                id=f"{self.id}{suffix}",
                label=self.label_,
                assigned=False,
                plain=True,
            )
        return {}

    def summary(self) -> str:
        return f"prints {self.label_}" if self.label_ else "prints each record"
