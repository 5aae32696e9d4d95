"""Errors for people: one sentence on what was found, one on what would help."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the analyzer runs without the compiler
    from millrace_compiler.driver_events import CauseFields, ErrorFields


class MillraceError(Exception):
    """A problem with a known cause. `code` is stable, the message is for people."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        node: str | None = None,
        parameter: str | None = None,
        facts: Mapping[str, object] | None = None,
        cause: MillraceError | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.node = node
        self.parameter = parameter
        #: what the message names, for a message in another language
        self.facts = {name: str(fact) for name, fact in (facts or {}).items()}
        #: the one behind it, which the message quotes
        self.cause = cause

    def as_dict(self) -> ErrorFields:
        """The error as it is reported; facts and cause only where it has any."""
        fields: ErrorFields = {
            "code": self.code,
            "node": self.node,
            "parameter": self.parameter,
            "message": self.message,
        }
        if self.facts:
            fields["facts"] = self.facts
        if self.cause is not None:
            fields["cause"] = self.cause.as_cause()
        return fields

    def as_cause(self) -> CauseFields:
        """The error as that of another one."""
        fields: CauseFields = {"code": self.code, "message": self.message, "facts": self.facts}
        return fields if self.cause is None else {**fields, "cause": self.cause.as_cause()}

    @classmethod
    def of_cause(cls, fields: Mapping[str, Any] | None) -> MillraceError | None:
        """The error that `as_cause` gave; None for none."""
        if not fields:
            return None
        cause = cls.of_cause(fields.get("cause"))
        return cls(fields["code"], fields["message"], facts=fields.get("facts"), cause=cause)


class StreamStopped(MillraceError):
    """A record stopped the job because a handler says `fail`.

    `fault` is the record's fault as the operator reported it: kind, node, parameter, exception,
    message, the cause where the message is its sentence, and the record's topic, partition, offset,
    key and timestamp.
    """

    def __init__(self, fault: dict[str, Any]) -> None:
        super().__init__(
            str(fault.get("kind") or "processing"),
            str(
                fault.get("message") or fault.get("exception") or "a record could not be processed"
            ),
            node=fault.get("node"),
            parameter=fault.get("parameter"),
            cause=MillraceError.of_cause(fault.get("cause")),
        )
        self.fault = fault

    def as_dict(self) -> ErrorFields:
        """The fault with the record that caused it."""
        return {
            **super().as_dict(),
            "exception": self.fault.get("exception"),
            "record": self.fault.get("record"),
        }


# How the operator starts the line that carries a fault (StreamStopped in Faults.scala), and the one
# that carries a refusal (Refused in Core.scala). Each is followed by one JSON object.
FAULT_MARK = "MILLRACE-FAULT {"
_REFUSED_MARK = "MILLRACE-REFUSED {"


def fault_of(message: str) -> dict[str, Any] | None:
    """The fault that the operator wrote into an exception's message, or None."""
    return _object_behind(FAULT_MARK, message)


def refusal(error: MillraceError) -> str:
    """The error as an exception's message from which `refusal_of` reads it."""
    return _REFUSED_MARK[:-1] + json.dumps(error.as_dict())


def refusal_of(message: str) -> MillraceError | None:
    """The refusal that the operator, or `refusal`, wrote into an exception's message, or None."""
    found = _object_behind(_REFUSED_MARK, message)
    if found is None:
        return None
    return MillraceError(
        str(found.get("code")),
        str(found.get("message")),
        node=found.get("node") or None,
        parameter=found.get("parameter") or None,
        facts=found.get("facts"),
        cause=MillraceError.of_cause(found.get("cause")),
    )


def _object_behind(mark: str, message: str) -> dict[str, Any] | None:
    start = message.find(mark)
    if start < 0:
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode(message, start + len(mark) - 1)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
