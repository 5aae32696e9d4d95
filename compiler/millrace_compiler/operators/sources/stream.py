"""``source.stream``: reads topics as a stream of records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from millrace_compiler.declarations.calls import Call, call, format_words
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope
from millrace_compiler.declarations.ports import OutPort
from millrace_compiler.declarations.steps import Handle, Reads
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.operators.sources.base import source_step
from millrace_compiler.operators.sources.reader import ReadStream
from millrace_compiler.parameters.parameters import Pattern, Topics, optional
from millrace_compiler.parameters.summaries import Sentence


class SourceStream(ReadStream):
    "Reads the records of one or more topics as a stream."

    kind = "source.stream"
    title = "Stream from topics"
    icon = "database-import"
    place = 1
    help = (
        "Reads topics as a stream: each record is an independent event. Records of several topics "
        "are merged by timestamp, earliest first [PL1]. Records that cannot be deserialized go to "
        "the deserialization handler."
    )
    guarantee = (
        "Offset order within a partition; across partitions, smallest timestamp first [PL1]."
    )
    why = (
        "Spark reads partitions in parallel, without an order between them; the stream task "
        "restores the order of Kafka Streams."
    )
    synonyms = ("kstream", "input", "consume", "read", "topic", "events", "输入", "数据源")
    topic_parameters = ("topics",)
    has_timestamps = True
    may_share_topic = True
    rules = ("PL1", "ST10", "EH1")
    out_ports = (OutPort("out", "stream"),)
    forwards_all = True
    first = ("topics", "topic_pattern")

    topics = optional(Topics("Topics", "The topics to read."))
    topic_pattern = optional(
        Pattern(
            "Topic pattern",
            "A regular expression instead of a list; reads all topics whose full name matches.",
        )
    )

    def check(self, report: Diagnostics) -> None:
        super().check(report)
        given = [p for p in ("topics", "topic_pattern") if self.node.params.get(p) is not None]
        if len(given) != 1:
            self.fault(report, "one_of", "topics", names=self.titled("topics", "topic_pattern"))
        else:
            self.check_reader(report, self.topic_names())

    def topic_names(self) -> tuple[str, ...]:
        return self.topics or ()

    def reads(self) -> Reads:
        return replace(super().reads(), pattern=self.topic_pattern or None)

    def infer(self, scope: Scope) -> Inference:
        return (yield from self.infer_port(scope, self.port("stream")))

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        where: dict[str, object] = (
            {"pattern": self.topic_pattern}
            if self.topic_pattern
            else {"topics": list(self.topic_names())}
        )
        params = {**self.time_params(), **self.reading()}
        return {"out": source_step(to, self, "stream", "stream", where, params)}

    def words(self) -> list[Call]:
        return [
            call(
                "stream",
                *self.topic_names(),
                pattern=self.topic_pattern,
                key=format_words(self.key),
                value=format_words(self.value),
                reader=self.reader_words(),
                **self.time_arguments(),
            )
        ]

    def summary(self) -> Sentence:
        if self.topic_pattern:
            return Sentence("topics like {pattern}", pattern=self.topic_pattern)
        topics = ", ".join(self.topic_names())
        if self.reader:
            return Sentence("{topics} · from {reader}", topics=topics, reader=self.reader)
        return Sentence("{topics} · {format}", topics=topics, format=self.value.name)
