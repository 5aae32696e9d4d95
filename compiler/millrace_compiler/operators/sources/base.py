"""What the sources have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from millrace_compiler.formats import FormatOf
from millrace_compiler.lowering import NodeLowering
from millrace_compiler.operator import Ask, Inference, Operator, Scope
from millrace_compiler.parameters import Choice, Expression, optional
from millrace_compiler.ports import METADATA, Port, Role
from millrace_compiler.steps import Handle, Reads

_TIMES = ("TIMESTAMP", "BIGINT", "INT", "SMALLINT", "TINYINT")


class Source(Operator):
    """A topic becomes a stream or a table."""

    #: Several of them may read one topic.
    may_share_topic: ClassVar[bool] = False

    key = FormatOf("Key format", "Serialization format of the key.")
    value = FormatOf("Value format", "Serialization format of the value.")

    def formats(self) -> tuple[object, object]:
        """Key and value format, for comparing two sources of one topic."""
        return self.key.identity, self.value.identity

    def topic_names(self) -> tuple[str, ...]:
        """The topics it reads; none where it reads by a pattern."""
        return ()

    def time(self) -> tuple[object, ...]:
        """How it takes the record's time, for comparing two sources of one topic."""
        return ()

    def read_by(self) -> str | None:
        """Spark's name of the format that is read in place of the broker's topic, if one is."""
        return None

    def reads(self) -> Reads:
        """What its step reads."""
        return Reads(self.topic_names(), reader=self.read_by())

    def port(self, role: Role, *, history: int | None = None) -> Port:
        """The types that the formats give."""
        return Port(role, self.key.type, self.value.type, history=history)


class TimedSource(Source):
    """A source whose records may carry their time inside."""

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
        return (self.timestamp, self.invalid_timestamp, self.start)

    def infer_port(self, scope: Scope, port: Port) -> Inference:
        """Checks the timestamp expression and gives the port."""
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
        """What else is asked of the analyzer; only errors matter."""
        return []

    def time_params(self) -> dict[str, object]:
        """Parameters of the step about time."""
        return {
            "timestamp": self.timestamp,
            "invalid_timestamp": self.invalid_timestamp,
            "start": self.start,
        }

    def time_arguments(self) -> dict[str, object]:
        """Arguments about time that differ from the defaults."""
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
    """The input step of a source; ``where`` is what it reads."""
    formats = {"key": source.key.to_json(), "value": source.value.to_json()}
    return to.step(
        op,
        role=role,
        reads=source.reads(),
        keeps=source.keeps("on_demand" if role == "table" else "never"),
        params={**where, **formats, **params},
    )
