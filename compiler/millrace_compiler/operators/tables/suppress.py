"""``suppress``: buffers updates of a table and forwards fewer of them."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calls import Call, call, duration
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Buffer, Inference, Operator, Scope, no_questions
from millrace_compiler.declarations.ports import InPort, OutPort
from millrace_compiler.declarations.steps import Handle, Keeps
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.documents.durations import show_duration
from millrace_compiler.parameters.parameters import Choice, DependsOn, Duration, Whole, optional
from millrace_compiler.parameters.summaries import Sentence


class Suppress(Operator):
    "Buffers the updates of a table and forwards the last one."

    kind = "suppress"
    title = "Suppress"
    icon = "hourglass"
    place = 3
    help = (
        "With “Window closes”, each window emits one final result when stream time passes its end "
        "plus grace period [KT7]. With “Time limit”, each key emits at most one update per "
        "interval [KT5]."
    )
    guarantee = (
        "One final result per window, or the latest update per time limit, by stream time [KT7]."
    )
    why = "Spark's append mode emits final rows by a watermark that is set once per micro-batch."
    synonyms = ("final result", "debounce", "throttle", "rate limit", "buffer", "抑制", "最终结果")
    rules = ("KT5", "KT6", "KT7", "KT8", "KT9")
    in_ports = (InPort("in", ("table",)),)
    out_ports = (OutPort("out", "table"),)
    stateful = True
    reads_clock = True
    continues_table = True
    buffer = Buffer("suppress_buffer", "in", {"value": "in"})

    until = Choice("Until", "When to emit.", ("window_closes", "time_limit"))
    limit = optional(
        Duration(
            "Limit",
            "How long the first update of a key is buffered, in stream time.",
            depends_on=DependsOn("until", ("time_limit",)),
        )
    )
    max_records = optional(
        Whole("Most records", ("Maximum number of buffered keys. Default: unlimited."))
    )
    max_bytes = optional(
        Whole(
            "Most bytes",
            ("Maximum size of the buffer in bytes. Default: unlimited."),
            unit="bytes",
        )
    )
    when_full = optional(
        Choice(
            "When full",
            "What to do when the buffer is full: emit the oldest record early, or fail. Default: "
            "emit with “Time limit”, fail with “Window closes”.",
            ("emit", "fail"),
        )
    )

    def check(self, report: Diagnostics) -> None:
        if self.until == "window_closes":
            if self.node.params.get("limit") is not None:
                self.fault(report, "only_with", "limit", **self.is_set("until", "time_limit"))
            if self.when_full == "emit":
                self.fault(report, "suppress_emit", "when_full")
        elif self.node.params.get("until") == "time_limit" and self.limit is None:
            self.fault(report, "needed_with", "limit", **self.is_set("until", "time_limit"))

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        if port.history is not None:
            scope.fault("suppress_versioned", "in")
        elif port.versions_of is not None:
            scope.fault("suppress_inherited", "in", table=port.versions_of)
        if self.until == "window_closes" and port.window is None:
            scope.fault("suppress_window", "until")
        return no_questions({"out": port})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        table = to.input()
        to.materialize(table)
        handle = to.step(
            "suppress",
            table,
            until=self.until,
            limit=self.limit,
            max_records=self.max_records,
            max_bytes=self.max_bytes,
            when_full=self.when_full or ("emit" if self.until == "time_limit" else "fail"),
            role="table",
            keeps=Keeps((f"{self.id}-store",)),
        )
        return {"out": handle}

    def words(self) -> list[Call]:
        limits = {
            "max_records": self.max_records,
            "max_bytes": self.max_bytes,
            "when_full": self.when_full,
        }
        if self.until == "window_closes":
            return [call("suppress", call("until_window_closes", **limits))]
        return [call("suppress", call("until_time_limit", duration(self.limit), **limits))]

    def summary(self) -> Sentence:
        if self.until == "window_closes":
            return Sentence("one final result per window")
        time = show_duration(self.limit or 0)
        return Sentence("at most one update per key in {time}", time=time)
