"""``sink.topic``: writes records to a topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from millrace_compiler.declarations.calling import Calling
from millrace_compiler.declarations.calls import Call, Input, format_words, with_keywords
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope
from millrace_compiler.declarations.ports import InPort, Port
from millrace_compiler.declarations.steps import Handle, Writes
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.operators.tables.updates import updates
from millrace_compiler.parameters.formats import SIMPLE, WINDOWED, Format, FormatOf, format_of
from millrace_compiler.parameters.parameters import Expression, Topic, optional
from millrace_compiler.parameters.summaries import Sentence
from millrace_compiler.types.types import INT, STRING, DataType, widens, windowed


class SinkTopic(Calling):
    """Writes records to a topic."""

    kind = "sink.topic"
    title = "To a topic"
    icon = "database-export"
    place = 1
    help = (
        "Writes key, value, timestamp and headers. The default format matches the type. Records "
        "are partitioned by Kafka's default partitioner; deletes of a table are written as null "
        "values."
    )
    guarantee = (
        "Records keep their order, timestamps and headers and go to the partition that Kafka "
        "Streams would choose; at least once, or exactly once if set [PL8]."
    )
    why = "Spark's Kafka sink writes no timestamps and has no transactions."
    synonyms = ("output", "produce", "write", "publish", "kafka", "输出", "写入")
    topic_parameters = ("topic",)
    in_ports = (InPort("in", ("stream", "table"), many=True),)
    has_effects = True
    first = ("topic", "topic_expression", "key", "value", "partition")

    topic = optional(Topic("Topic", "The topic to write."))
    topic_expression = optional(
        Expression(
            "Topic expression",
            "Expression for the topic of each record, instead of a fixed topic.",
            expects="STRING",
        )
    )
    key = optional(
        FormatOf(
            "Key format", "Default: the format that matches the type.", of_data=True, of_key=True
        )
    )
    value = optional(
        FormatOf("Value format", ("Default: the format that matches the type."), of_data=True)
    )
    partition = optional(
        Expression(
            "Partition",
            "Expression for the partition. Default: Kafka's default partitioner.",
            expects="INT",
        )
    )

    def check(self, report: Diagnostics) -> None:
        super().check(report)
        given = [p for p in ("topic", "topic_expression") if self.node.params.get(p) is not None]
        if len(given) != 1:
            self.fault(report, "one_of", "topic", names=self.titled("topic", "topic_expression"))

    def infer(self, scope: Scope) -> Inference:
        asks = []
        for port in scope.all():
            record = updates(port).record()
            if self.topic_expression:
                text = self.topic_expression
                asks.append(scope.ask("topic_expression", text, record, STRING, once=True))
            if self.partition:
                asks.append(scope.ask("partition", self.partition, record, INT, once=True))
            self._check_format(scope, "key", self.key, port.key)
            self._check_window(scope, port)
            self._check_format(scope, "value", self.value, port.value)
        yield asks
        return {}

    def _check_format(
        self, scope: Scope, part: str, format_: Format | None, found: DataType | None
    ) -> None:
        if format_ is None or format_.type is None or found is None:
            return
        if not widens(found, format_.type):
            needed = format_.type.text
            code = "sink_format" if part == "value" else "sink_key_format"
            scope.fault(code, part, format=format_.name, found=found.text, needed=needed)

    def _check_window(self, scope: Scope, port: Port) -> None:
        """Reports a windowed format for a key without a window, or with one of another kind."""
        if self.key is None or self.key.name not in WINDOWED or port.key is None:
            return
        inner = port.key.inner[0] if port.key.inner else None
        if inner is None or port.key != windowed(inner):
            if self.key.type is None:
                needed = "STRUCT<key, window: STRUCT<start: TIMESTAMP, end: TIMESTAMP>>"
                found = port.key.text
                scope.fault(
                    "sink_key_format", "key", format=self.key.name, found=found, needed=needed
                )
            return
        session = self.key.name == "session_windowed"
        if port.window is not None and (port.window.type == "session") != session:
            other = "time_windowed" if session else "session_windowed"
            window = port.window.type
            scope.fault("sink_key_window", "key", format=self.key.name, window=window, other=other)

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        streams = to.streams()
        several = len(streams) > 1
        for index, (stream, (_, port)) in enumerate(zip(streams, to.inputs(), strict=True)):
            suffix = f"-{index}" if several else ""
            formats = {"key": self.key, "value": self.value}
            chosen = {part: self._format(port, part, formats[part]) for part in formats}
            widened = self._cast(to, stream, port, chosen, suffix)
            to.step(
                "to",
                widened,
                id=f"{self.id}{suffix}",
                topic=self.topic,
                topic_expression=self.topic_expression,
                key=chosen["key"].to_json(),
                value=chosen["value"].to_json(),
                partition=self.partition,
                writes=Writes(self.topic),
            )
        return {}

    def _format(self, port: Port, part: str, given: Format | None) -> Format:
        found = port.key if part == "key" else port.value
        if found is None:
            return given or Format("json")
        if given is None:
            return format_of(found)
        if part == "key" and given.name in WINDOWED:
            given = given.of_windows(port.window.length if port.window else 0)
        if given.type is None:
            return replace(given, type=found)
        return given

    def _cast(
        self,
        to: NodeLowering,
        stream: Handle,
        port: Port,
        chosen: Mapping[str, Format],
        suffix: str,
    ) -> Handle:
        """Adds steps that cast key and value to the types of the formats, if these are wider."""
        casts = (("key", "select_key", port.key), ("value", "map_values", port.value))
        for part, op, found in casts:
            needed = chosen[part].type
            if needed is None or found is None or found == needed:
                continue
            text = f"CAST({part} AS {needed.text})"
            stream = to.step(op, stream, id=f"{self.id}-{part}{suffix}", params={part: text})
        return stream

    def words(self) -> list[Call]:
        made = Call("to", (self.topic,) if self.topic else ())
        others = tuple(Input("in", index) for index in range(1, self.incoming["in"]))
        return [
            with_keywords(
                made,
                topic_expression=self.topic_expression,
                key=format_words(self.key),
                value=format_words(self.value),
                partition=self.partition,
                also=list(others) or None,
            )
        ]

    def summary(self) -> Sentence:
        if not self.topic and not self.topic_expression:
            return Sentence("to a topic")
        where = "to {topic}" if self.topic else "to the topic {topic}"
        formats = [
            f.name for f in (self.key, self.value) if f and f.name in (*SIMPLE, "avro", "protobuf")
        ]
        form = where + (" as {formats}" if formats else "")
        topic = self.topic or self.topic_expression or ""
        return Sentence(form, topic=topic, formats=", ".join(formats))
