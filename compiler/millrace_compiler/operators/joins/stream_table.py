"""``join.stream_table``: joins a stream with the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calls import Call, duration
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Buffer, Inference, Scope
from millrace_compiler.declarations.ports import InPort, OutPort, Port
from millrace_compiler.declarations.steps import Handle, Keeps
from millrace_compiler.documents.durations import show_duration
from millrace_compiler.operators.joins.base import INNER_LEFT, TYPE_HELP, Join
from millrace_compiler.operators.tables.updates import same_keys
from millrace_compiler.parameters.parameters import Choice, Duration, Name, optional
from millrace_compiler.parameters.summaries import Sentence


class JoinStreamTable(Join):
    "Enriches each stream record with the table's row for its key."

    kind = "join.stream_table"
    title = "Join stream with table"
    icon = "table-column"
    place = 2
    help = (
        "Each stream record looks up the current row of its key; table updates alone produce no "
        "result [ST-1][ST-2]. A versioned table returns the row as of the record's timestamp "
        "[VS2]; with a grace period, stream records wait for late table updates [ST-3]."
    )
    guarantee = "The row at processing time, or as of the record's timestamp if versioned [ST-2]."
    why = "Spark joins a whole micro-batch with one state of the table."
    synonyms = ("enrich", "lookup", "add", "dimension", "补充", "丰富", "查找")
    rules = ("ST-1", "ST-2", "ST-3", "ST-4", "VS2", "RP4")
    in_ports = (InPort("left", ("stream",)), InPort("right", ("table",)))
    out_ports = (OutPort("out", "stream"),)
    first = ("type", "joiner", "grace")
    stateful = True
    buffer = Buffer("grace_buffer", "left", {"value": "left"})
    driving_ports = ("left",)
    keeps_null_keys = True

    type = Choice("Type", TYPE_HELP, INNER_LEFT, default="inner")
    grace = optional(
        Duration(
            "Grace",
            "How long stream records wait for late table updates. Requires a versioned table.",
        )
    )

    repartition = optional(
        Name(
            "Repartition topic",
            "Name of the repartition topic without “-repartition”, as with Joined.as. Default: the "
            "node's id.",
        )
    )

    def infer(self, scope: Scope) -> Inference:
        left, right = scope.one("left"), scope.one("right")
        same_keys(scope, left, right, "right")
        if self.grace is not None:
            if right.history is None:
                scope.fault("join_grace", "grace")
            elif self.grace > right.history:
                scope.fault("join_grace_history", "grace", found=self.grace, history=right.history)
        [value] = yield [self.ask_joiner(scope, left, right)]
        return {"out": Port("stream", left.key, value, False, left.window, left.inner_key)}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        left = to.keyed(to.input("left"), self.id, "left")
        right = to.input("right")
        to.together(left, right)
        handle = to.step(
            "join_table",
            left,
            to.lookup(right),
            type=self.type,
            joiner=self.joiner,
            grace=self.grace,
            keeps=Keeps(() if self.grace is None else (f"{self.id}-buffer",)),
        )
        return {"out": handle}

    def words(self) -> list[Call]:
        return self.joining(grace=duration(self.grace), repartition=self.repartition)

    def summary(self) -> Sentence:
        if self.grace:
            time = show_duration(self.grace)
            return Sentence("waits {time} · {type} join by key", type=self.type, time=time)
        return Sentence("{type} join by key", type=self.type)
