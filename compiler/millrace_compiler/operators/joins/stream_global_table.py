"""``join.stream_global_table``: joins a stream with the rows of a global table."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calling import Calling
from millrace_compiler.declarations.calls import Call
from millrace_compiler.declarations.functions import RECORD
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope
from millrace_compiler.declarations.ports import InPort, OutPort
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.joins.base import INNER_LEFT, JOINER_HELP, TYPE_HELP, Join
from millrace_compiler.parameters.parameters import Choice, Expression
from millrace_compiler.parameters.summaries import Sentence


class JoinStreamGlobalTable(Join, Calling):
    "Enriches each stream record with a row of a global table, looked up by any expression."

    kind = "join.stream_global_table"
    title = "Join stream with global table"
    icon = "world-search"
    place = 3
    help = (
        "The key expression selects the row; the stream is not repartitioned and the record keeps "
        "its key [GK1]."
    )
    guarantee = "The row at processing time, without a repartition [GK1]."
    why = "Spark joins a whole micro-batch with one state of the table."
    synonyms = ("enrich", "lookup", "broadcast join", "dimension", "补充", "查找")
    rules = ("GK1", "GK2")
    in_ports = (InPort("left", ("stream",)), InPort("right", ("global_table",)))
    out_ports = (OutPort("out", "stream"),)
    first = ("type", "key", "joiner")
    stateful = True
    driving_ports = ("left",)
    keeps_null_keys = True
    #: A function as joiner is a node of its own.
    bindings = {"key": RECORD}

    type = Choice("Type", TYPE_HELP, INNER_LEFT, default="inner")
    key = Expression("Key", "The key of the table row, an expression over the stream record.")

    joiner = Expression("Joiner", JOINER_HELP, columns="join_mapped")

    def infer(self, scope: Scope) -> Inference:
        left, right = scope.one("left"), scope.one("right")
        _, value = yield [
            scope.ask("key", self.key, left.record(), right.key),
            self.ask_joiner(scope, left, right, ("mapped_key", right.key)),
        ]
        return {"out": left.with_value(value)}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        handle = to.step(
            "join_global",
            to.input("left"),
            to.input("right"),
            type=self.type,
            key=self.key,
            joiner=self.joiner,
        )
        return {"out": handle}

    def words(self) -> list[Call]:
        return self.joining(key=self.key)

    def summary(self) -> Sentence:
        return Sentence("{type} join by {key}", type=self.type, key=self.key)
