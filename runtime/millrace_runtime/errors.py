"""Errors whose messages say what was found and what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:  # the analyzer runs without the compiler
    from millrace_model.events import CauseFields, ErrorFields, Fault


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
        #: values in the message, from which it can be written in another language
        self.facts = {name: str(fact) for name, fact in (facts or {}).items()}
        #: the underlying error, which the message quotes
        self.cause = cause

    def as_dict(self) -> ErrorFields:
        """Return the error as it is reported; facts and cause are omitted if there are none."""
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
        """Return the error in the form in which another error reports it as its cause."""
        fields: CauseFields = {"code": self.code, "message": self.message, "facts": self.facts}
        return fields if self.cause is None else {**fields, "cause": self.cause.as_cause()}

    @classmethod
    def of_cause(cls, fields: CauseFields | None) -> MillraceError | None:
        """Return the error from the result of `as_cause`, or None if `fields` is empty or None."""
        if not fields:
            return None
        cause = cls.of_cause(fields.get("cause"))
        return cls(fields["code"], fields["message"], facts=fields.get("facts"), cause=cause)


class ProgramError(MillraceError):
    """Errors of a program. The message has a line for each, with file, line and node.

    `code`, `node`, `parameter` and `facts` are those of the first.
    """


class StreamStopped(MillraceError):
    """A record stopped the job because its handler is `fail`.

    `fault` is what the operator reported: kind, node, parameter, exception, message, the cause if
    the message is taken from it, and the record's topic, partition, offset, key and timestamp.
    """

    def __init__(self, fault: Fault) -> None:
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
        """Return the error with the exception and the record that caused it."""
        return {
            **super().as_dict(),
            "exception": self.fault.get("exception"),
            "record": self.fault.get("record"),
        }


# The operator starts the line of a fault (StreamStopped in Faults.scala) and that of a refusal
# (Refused in Core.scala) with these marks. The brace belongs to the JSON object that follows.
FAULT_MARK = "MILLRACE-FAULT {"
_REFUSED_MARK = "MILLRACE-REFUSED {"


def fault_of(message: str) -> Fault | None:
    """Return the fault that the operator wrote into an exception's message, or None."""
    return cast("Fault | None", _object_behind(FAULT_MARK, message))


def refusal(error: MillraceError) -> str:
    """Return an exception's message from which `refusal_of` reads the error."""
    return _REFUSED_MARK[:-1] + json.dumps(error.as_dict())


def refusal_of(message: str) -> MillraceError | None:
    """Return the refusal that the operator or `refusal` wrote into a message, or None."""
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


def _object_behind(mark: str, message: str) -> Any:
    start = message.find(mark)
    if start < 0:
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode(message, start + len(mark) - 1)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
