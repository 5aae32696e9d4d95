"""``split``: splits a stream into branches."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calls import Call, call
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.operators.stateless.base import STREAM_OR_TABLE
from millrace_compiler.operators.tables.updates import updates
from millrace_compiler.parameters.parameters import optional
from millrace_compiler.parameters.parts import Branches, PortName
from millrace_compiler.parameters.summaries import Sentence
from millrace_compiler.types.types import BOOLEAN


class Split(Operator):
    """Sends each record to the first branch whose predicate is true."""

    kind = "split"
    title = "Split"
    icon = "arrow-ramp-right"
    place = 10
    help = (
        "Branches are evaluated in order and the first match wins. Records without a match go to "
        "the default port, or are dropped if there is none."
    )
    guarantee = "Each record goes to one branch and is processed there before the next record."
    why = "With a filter for each branch, Spark would read the input once for each of them."
    synonyms = ("branch", "route", "switch", "case", "分支", "分流")
    in_ports = STREAM_OR_TABLE
    returns_ports = True
    dynamic_outputs = "branches"

    branches = Branches("Branches", "Port and predicate of each branch, evaluated in order.")
    default_port = optional(
        PortName(
            "Default port", ("Port for records that match no branch. If empty, they are dropped.")
        )
    )

    def check(self, report: Diagnostics) -> None:
        if self.default_port in [branch.port for branch in self.branches]:
            self.fault(report, "name_twice", "default_port", name=self.default_port, what="port")

    def outputs(self) -> tuple[str, ...]:
        ports = [branch.port for branch in self.branches]
        if self.default_port:
            ports.append(self.default_port)
        return tuple(dict.fromkeys(ports))

    def infer(self, scope: Scope) -> Inference:
        port = updates(scope.one())
        columns = port.record()
        yield [
            scope.ask(
                "branches", branch.predicate, columns, BOOLEAN, f"[{index}].predicate", once=True
            )
            for index, branch in enumerate(self.branches)
        ]
        return dict.fromkeys(self.outputs(), port)

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        made = to.step(
            "split",
            to.stream(),
            branches=[{"port": b.port, "predicate": b.predicate} for b in self.branches],
            default_port=self.default_port,
        )
        return {port: made.at(port) for port in self.outputs()}

    def words(self) -> list[Call]:
        branches = {branch.port: branch.predicate for branch in self.branches}
        return [call("split", branches, default=self.default_port)]

    def summary(self) -> Sentence:
        return Sentence("first match of {ports}", ports=", ".join(self.outputs()))
