"""Errors that a person reads: one sentence what was found, one what would do."""

from __future__ import annotations

import json
from typing import Any


class MillraceError(Exception):
    """A problem with a known cause. `code` is stable, the message is for people."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        node: str | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.node = node
        self.parameter = parameter

    def as_dict(self) -> dict[str, Any]:
        """The error as it is reported: code, node, parameter, message."""
        return {
            "code": self.code,
            "node": self.node,
            "parameter": self.parameter,
            "message": self.message,
        }


class StreamStopped(MillraceError):
    """A record stopped the job because a handler says `fail`.

    `fault` is the record's fault as the operator reported it: kind, node, parameter, exception,
    message and the record's topic, partition, offset, key and timestamp.
    """

    def __init__(self, fault: dict[str, Any]) -> None:
        super().__init__(
            str(fault.get("kind") or "processing"),
            str(
                fault.get("message") or fault.get("exception") or "a record could not be processed"
            ),
            node=fault.get("node"),
            parameter=fault.get("parameter"),
        )
        self.fault = fault

    def as_dict(self) -> dict[str, Any]:
        """The fault with the record that caused it."""
        return {
            **super().as_dict(),
            "exception": self.fault.get("exception"),
            "record": self.fault.get("record"),
        }


# How the operator starts the line that carries a fault (StreamStopped in Faults.scala).
FAULT_MARK = "MILLRACE-FAULT {"


def fault_of(message: str) -> dict[str, Any] | None:
    """The fault that the operator wrote into an exception's message, or None."""
    start = message.find(FAULT_MARK)
    if start < 0:
        return None
    try:
        fault, _ = json.JSONDecoder().raw_decode(message, start + len(FAULT_MARK) - 1)
    except ValueError:
        return None
    return fault if isinstance(fault, dict) else None
