"""What the sources have in common."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.formats import FormatOf
from millrace_compiler.lowering import Handle, NodeLowering, format_call
from millrace_compiler.operator import Inference, Operator, Scope
from millrace_compiler.parameters import Choice, Expression, optional
from millrace_compiler.ports import METADATA, Port, Role

_TIMES = ("TIMESTAMP", "BIGINT", "INT", "SMALLINT", "TINYINT")


class Source(Operator):
    """A topic becomes a stream or a table."""

    key = FormatOf("Key format", "How the record's key is written on the topic.")
    value = FormatOf("Value format", "How the record's value is written on the topic.")

    def formats(self) -> tuple[object, object]:
        """Key and value format, for comparing two sources of one topic."""
        return self.key, self.value

    def topic_names(self) -> tuple[str, ...]:
        """The topics it reads; none where it reads by a pattern."""
        return ()

    def time(self) -> tuple[object, ...]:
        """How it takes the record's time, for comparing two sources of one topic."""
        return ()

    def port(self, role: Role, *, versioned: bool = False) -> Port:
        """The types that the formats give."""
        return Port(role, self.key.type, self.value.type, versioned=versioned)


class TimedSource(Source):
    """A source whose records may carry their time inside."""

    timestamp = optional(
        Expression(
            "Timestamp",
            "Expression over the record that gives its time: TIMESTAMP, or BIGINT in ms. "
            "Without it the time that the record has on the topic.",
            required=False,
        )
    )
    invalid_timestamp = Choice(
        "Invalid timestamp",
        "A null or negative timestamp: stop the job, drop the record and count it, or take the "
        "highest time seen so far on the partition.",
        ("fail", "skip", "partition_time"),
        default="fail",
    )
    start = Choice(
        "Start",
        "Where to begin on a topic that the job has not read before.",
        ("earliest", "latest"),
        default="earliest",
    )

    def time(self) -> tuple[object, ...]:
        return (self.timestamp, self.invalid_timestamp, self.start)

    def infer_port(self, scope: Scope, port: Port) -> Inference:
        """Checks the timestamp expression and gives the port."""
        if self.timestamp:
            columns = (("key", port.key), ("value", port.value), *METADATA)
            [found] = yield [scope.ask("timestamp", self.timestamp, columns)]
            if found is not None and found.name not in _TIMES:
                needed = "TIMESTAMP or BIGINT"
                scope.fault("expression_type", "timestamp", found=found.text, needed=needed)
        else:
            yield []
        return {"out": port}

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
    keywords: Mapping[str, object],
    *,
    plain: bool = False,
) -> Handle:
    """The input step of a source; ``where`` says what it reads."""
    formats = {"key": format_call(source.key), "value": format_call(source.value)}
    return to.step(
        op,
        None,
        role=role,
        topics=source.topic_names(),
        source=True,
        plain=plain,
        stores=to.store_names(always=False),
        keywords={**where, **formats, **keywords},
    )
