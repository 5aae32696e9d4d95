"""Streams that read one of Spark's streaming formats instead of a topic on the broker."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calls import Call, call
from millrace_compiler.declarations.operator import Ask, Scope
from millrace_compiler.declarations.steps import Partitions
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.operators.sources.base import TimedSource
from millrace_compiler.parameters.parameters import DependsOn, Text, optional
from millrace_compiler.parameters.parts import KeyValues, TypeOf

#: Columns of a record that a reader can provide. All but key and value have a default.
COLUMNS = ("key", "value", "timestamp", "headers", "topic", "partition", "offset")
_ASKED = DependsOn("reader")


class ReadStream(TimedSource):
    """Base class of streams whose records may come from one of Spark's streaming formats."""

    reader = optional(
        Text(
            "Reader",
            "A format that Spark reads as a stream, such as parquet, in place of the broker's "
            "topic. The name of the topic then only labels the records.",
        )
    )
    reader_options = optional(
        KeyValues(
            "Options",
            "Options of the reader, such as path and maxFilesPerTrigger.",
            depends_on=_ASKED,
        )
    )
    reader_schema = TypeOf(
        "Schema",
        "The reader's columns with their types. Default: the schema that the format provides.",
        required=False,
        depends_on=_ASKED,
    )
    reader_columns = optional(
        KeyValues(
            "Columns",
            "Expressions over the reader's columns for key, value, timestamp and, if needed, "
            "headers, topic, partition and offset. Default: the columns of these names.",
            depends_on=_ASKED,
        )
    )

    def read_by(self) -> str | None:
        return self.reader

    def reading(self) -> dict[str, object]:
        """The step's parameters for the reader; empty for topics on the broker."""
        topic = next(iter(self.topic_names()), None)
        if self.reader is None or topic is None:
            return {}
        reader = {
            "format": self.reader,
            "options": dict(self.reader_options or ()),
            "schema": self.reader_schema.schema if self.reader_schema else None,
            "columns": dict(self.reader_columns or ()),
        }
        return {"reader": reader, "partitions": Partitions(topic)}

    def time(self) -> tuple[object, ...]:
        own = (self.reader, self.reader_options, self.reader_schema, self.reader_columns)
        return (*super().time(), *own)

    def check_reader(self, report: Diagnostics, topics: tuple[str, ...]) -> None:
        """Reports parameters of the reader that are not valid together."""
        params: Mapping[str, object] = self.node.params
        if self.reader is None:
            for name in ("reader_options", "reader_schema", "reader_columns"):
                if params.get(name) is not None:
                    self.fault(report, "reader_missing", name)
            return
        if len(topics) != 1:
            parameter = "topic_pattern" if params.get("topic_pattern") else "topics"
            self.fault(report, "reader_topics", parameter)
        if self.start != "earliest":
            self.fault(report, "reader_start", "start")
        if self.reader_schema is not None and self.reader_schema.name != "STRUCT":
            self.fault(report, "reader_schema", "reader_schema", found=self.reader_schema.text)
        for name, _ in self.reader_columns or ():
            if name not in COLUMNS:
                known = ", ".join(COLUMNS)
                self.fault(
                    report, "reader_column", "reader_columns", f".{name}", name=name, known=known
                )

    def questions(self, scope: Scope) -> list[Ask]:
        """The questions about the column expressions, if the schema is declared."""
        schema = self.reader_schema
        if self.reader is None or schema is None or schema.name != "STRUCT":
            return []
        seen = tuple(zip(schema.fields, schema.inner, strict=True))
        return [
            scope.ask("reader_columns", text, seen, path=f".{name}")
            for name, text in self.reader_columns or ()
            if name in COLUMNS
        ]

    def reader_words(self) -> Call | None:
        """The call ``reader("parquet", options={...}, schema="...", columns={...})``."""
        if self.reader is None:
            return None
        return call(
            "reader",
            self.reader,
            options=dict(self.reader_options) if self.reader_options else None,
            schema=self.node.params.get("reader_schema"),
            columns=dict(self.reader_columns) if self.reader_columns else None,
        )
