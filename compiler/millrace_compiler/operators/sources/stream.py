"""``source.stream``: topics as a stream of records."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.diagnostics import Report
from millrace_compiler.lowering import Handle, NodeLowering
from millrace_compiler.operator import Inference, Scope
from millrace_compiler.operators.sources.base import TimedSource, source_step
from millrace_compiler.parameters import Pattern, Topics, optional
from millrace_compiler.ports import OutPort


class SourceStream(TimedSource):
    """Every record of one or more topics, one after the other."""

    kind = "source.stream"
    title = "Stream from topics"
    icon = "database-import"
    place = 1
    help = (
        "Reads topics as a stream: each record is an event of its own. Several topics come "
        "together by the time of their records, the earliest waiting record first [PL1]. Bytes "
        "that do not fit the format go to the deserialization handler."
    )
    synonyms = ("kstream", "input", "consume", "read", "topic", "events", "输入", "数据源")
    rules = ("PL1", "ST10", "EH1")
    out_ports = (OutPort("out", "stream"),)
    first = ("topics", "topic_pattern")

    topics = optional(Topics("Topics", "The topics to read.", required=False))
    topic_pattern = optional(
        Pattern(
            "Topic pattern",
            "A regular expression in place of a list: all topics whose whole name matches.",
            required=False,
        )
    )

    def check(self, report: Report) -> None:
        given = [p for p in ("topics", "topic_pattern") if self.node.params.get(p) is not None]
        if len(given) != 1:
            self.fault(
                report, "one_of", "topics", names="topics or topic_pattern", count=len(given)
            )

    def topic_names(self) -> tuple[str, ...]:
        return self.topics or ()

    def infer(self, scope: Scope) -> Inference:
        return (yield from self.infer_port(scope, self.port("stream")))

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        where: dict[str, object] = (
            {"pattern": self.topic_pattern}
            if self.topic_pattern
            else {"topics": list(self.topic_names())}
        )
        plain = len(self.topic_names()) == 1 and self.invalid_timestamp != "partition_time"
        times = self.time_arguments()
        handle = source_step(to, self, "stream", "stream", where, times, plain=plain)
        if self.topic_pattern:
            to.graph.steps[handle.step].pattern = self.topic_pattern
        return {"out": handle}

    def summary(self) -> str:
        if self.topic_pattern:
            return f"reads topics like {self.topic_pattern}"
        return f"reads {', '.join(self.topic_names())}"
