"""``join.stream_stream``: joins two streams within a time window."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calls import Call, call, duration
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Buffer, Inference, Scope
from millrace_compiler.declarations.ports import InPort, OutPort, Port
from millrace_compiler.declarations.steps import Handle, Keeps
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.documents.durations import LONGEST, show_duration
from millrace_compiler.operators.joins.base import ALL_TYPES, TYPE_HELP, Join
from millrace_compiler.operators.tables.updates import same_keys
from millrace_compiler.parameters.parameters import Choice, Duration, Name, optional
from millrace_compiler.parameters.summaries import Sentence


class JoinStreamStream(Join):
    "Joins records of two streams that have the same key and are close in time."

    kind = "join.stream_stream"
    title = "Join streams"
    icon = "arrows-join"
    place = 1
    help = (
        "A right record joins a left record with the same key if its timestamp is within [left - "
        "before, left + after], inclusive [SJ1]. In left and outer joins, a record without a "
        "match is forwarded when its window and grace period have passed [SJ4]."
    )
    guarantee = (
        "All pairs within the window, inclusive, and late ones within the grace period [SJ1][SJ4]."
    )
    why = (
        "Spark's stream–stream joins emit outer rows and drop late rows by a watermark that is "
        "set between micro-batches."
    )
    synonyms = ("correlate", "match", "window join", "interval join", "流连接", "关联")
    rules = ("SJ1", "SJ2", "SJ3", "SJ4", "SJ5", "SJ6", "RP4")
    in_ports = (InPort("left", ("stream",)), InPort("right", ("stream",)))
    out_ports = (OutPort("out", "stream"),)
    first = ("type", "before", "after", "grace", "joiner")
    stateful = True
    makes_records = True
    keeps_null_keys = True
    reads_clock = True
    buffer = Buffer("join_buffer", "left", {"left": "left", "right": "right"})

    type = Choice("Type", TYPE_HELP, ALL_TYPES, default="inner")
    before = Duration(
        "Before", ("How much earlier than the left record the right record may be."), minimum=None
    )
    after = Duration(
        "After", ("How much later than the left record the right record may be."), minimum=None
    )
    grace = Duration(
        "Grace",
        ("How long to accept late records after the window ends."),
        default=0,
    )

    repartition = optional(
        Name(
            "Repartition topics",
            "Name of the repartition topics without “-left-repartition” and “-right-repartition”, "
            "as with StreamJoined.withName. Default: the node's id.",
        )
    )
    store_name = optional(
        Name(
            "Store name",
            "Name of the stores without “-this-join-store” and so on, as with "
            "StreamJoined.withStoreName. Default: the node's id.",
        )
    )

    def check(self, report: Diagnostics) -> None:
        present = all(self.node.params.get(name) is not None for name in ("before", "after"))
        if not present:
            return
        width = self.before + self.after
        if width < 0:
            self.fault(report, "join_window", "before", before=self.before, after=self.after)
        elif max(self.before, self.after, 0) + width + self.grace > LONGEST:
            self.fault(report, "duration_too_long", "before", what="the window and grace together")

    def infer(self, scope: Scope) -> Inference:
        left, right = scope.one("left"), scope.one("right")
        same_keys(scope, left, right, "right")
        [value] = yield [self.ask_joiner(scope, left, right)]
        return {"out": Port("stream", left.key, value, False, left.window, left.inner_key)}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        left = to.keyed(to.input("left"), f"{self.id}-left", "left")
        right = to.keyed(to.input("right"), f"{self.id}-right", "right")
        to.together(left, right)
        sides = (f"{self.id}-left-store", f"{self.id}-right-store")
        waiting = () if self.type == "inner" else (f"{self.id}-outer-store",)
        handle = to.step(
            "join_stream",
            left,
            right,
            type=self.type,
            before=self.before,
            after=self.after,
            grace=self.grace,
            joiner=self.joiner,
            keeps=Keeps(sides + waiting),
        )
        return {"out": handle}

    def words(self) -> list[Call]:
        grace = duration(self.grace) if self.grace else None
        if self.before == self.after:
            window = call("within", duration(self.before), grace=grace)
        else:
            before, after = duration(self.before), duration(self.after)
            window = call("within", before=before, after=after, grace=grace)
        return self.joining(window, repartition=self.repartition, store_name=self.store_name)

    def summary(self) -> Sentence:
        before, after = show_duration(self.before), show_duration(self.after)
        found = (
            Sentence("within {time}", time=before)
            if self.before == self.after
            else Sentence("right {time1} before to {time2} after left", time1=before, time2=after)
        )
        if self.grace:
            found = Sentence("{window}, grace {time}", window=found, time=show_duration(self.grace))
        return Sentence("{window} · {type} join", window=found, type=self.type)
