"""The base classes of sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from millrace_compiler.declarations.calling import Calling
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Ask, Inference, Operator, Scope
from millrace_compiler.declarations.ports import METADATA, Port, Role
from millrace_compiler.declarations.steps import Handle, Reads
from millrace_compiler.parameters.formats import FormatOf
from millrace_compiler.parameters.parameters import Choice, Expression, optional

_TIMES = ("TIMESTAMP", "BIGINT", "INT", "SMALLINT", "TINYINT")


class Source(Operator):
    """Base class of operators that read a topic as a stream or a table."""

    #: Whether several sources of this kind may read the same topic.
    may_share_topic: ClassVar[bool] = False

    key = FormatOf("Key format", "Serialization format of the key.", of_key=True)
    value = FormatOf("Value format", "Serialization format of the value.")

    def formats(self) -> tuple[object, object]:
        """Key and value format, which two sources of a topic must share."""
        return self.key.identity, self.value.identity

    def topic_names(self) -> tuple[str, ...]:
        """The topics that it reads; none if it reads by pattern."""
        return ()

    def time(self) -> tuple[object, ...]:
        """Timestamp, start and reader, which two sources of a topic must share."""
        return ()

    def read_by(self) -> str | None:
        """The Spark format that is read instead of the broker's topic, if any."""
        return None

    def reads(self) -> Reads:
        """The topics that its step reads."""
        return Reads(self.topic_names(), reader=self.read_by())

    def port(self, role: Role, *, history: int | None = None) -> Port:
        """The output port, with the types of the formats."""
        return Port(role, self.key.type, self.value.type, history=history)


class TimedSource(Source, Calling):
    """Base class of sources whose records may contain their timestamp."""

    timestamp = optional(
        Expression(
            "Timestamp",
            "Expression for the record's timestamp: TIMESTAMP, or BIGINT in milliseconds. "
            "Default: the timestamp of the Kafka record.",
        )
    )
    invalid_timestamp = Choice(
        "Invalid timestamp",
        "What to do with a null or negative timestamp: fail, drop and count the record, or use "
        "the partition's highest timestamp so far.",
        ("fail", "skip", "partition_time"),
        default="fail",
    )
    start = Choice(
        "Start",
        "Where to start reading a topic that has no committed offsets.",
        ("earliest", "latest"),
        default="earliest",
    )

    def time(self) -> tuple[object, ...]:
        called = (self.functions, self.returns) if self.functions else ()
        return (self.timestamp, self.invalid_timestamp, self.start, *called)

    def infer_port(self, scope: Scope, port: Port) -> Inference:
        """Checks the timestamp expression and returns the port."""
        asks = self.questions(scope)
        if self.timestamp:
            columns = (("key", port.key), ("value", port.value), *METADATA)
            asks.append(scope.ask("timestamp", self.timestamp, columns))
        types = yield asks
        found = types[-1] if self.timestamp else None
        if found is not None and found.name not in _TIMES:
            needed = "TIMESTAMP or BIGINT"
            scope.fault("expression_type", "timestamp", found=found.text, needed=needed)
        return {"out": port}

    def questions(self, scope: Scope) -> list[Ask]:
        """Further questions for the analyzer, of which only errors matter."""
        return []

    def time_params(self) -> dict[str, object]:
        """The timestamp parameters of its step, and its start."""
        return {
            "timestamp": self.timestamp,
            "invalid_timestamp": self.invalid_timestamp,
            "start": self.start,
        }

    def time_arguments(self) -> dict[str, object]:
        """The same parameters as arguments of a program's call, without defaults."""
        return {
            "timestamp": self.timestamp,
            "invalid_timestamp": self.invalid_timestamp
            if self.invalid_timestamp != "fail"
            else None,
            "start": self.start if self.start != "earliest" else None,
        }


def source_step(
    to: NodeLowering,
    source: Source,
    op: str,
    role: Role,
    where: Mapping[str, object],
    params: Mapping[str, object],
) -> Handle:
    """Adds the input step of a source; ``where`` are its parameters of topics or reader."""
    formats = {"key": source.key.to_json(), "value": source.value.to_json()}
    return to.step(
        op,
        role=role,
        reads=source.reads(),
        keeps=source.keeps(),
        params={**where, **formats, **params},
    )
