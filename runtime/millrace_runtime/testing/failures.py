"""Failures of records in tests, with the lines of the program that they come from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from millrace_model.events import Fault

from millrace_runtime.code.code import ProcessorCode
from millrace_runtime.errors import StreamStopped

_LINE = re.compile(r" \(([^()]+, line \d+)\)$")


class RecordFailed(StreamStopped):
    """A record could not be processed, and its handler is `fail`.

    `node`: where it failed; `place`: file and line of the program, or None if unknown; `trace`: the
    traceback of Python code, or None. The text has all of them. The stores and the outputs are
    those before the record, as after a restart of a deployment.
    """

    def __init__(self, fault: Fault, place: str | None, trace: str | None) -> None:
        super().__init__(fault)
        self.place = place
        self.trace = trace

    def __str__(self) -> str:
        where = f"{self.node} ({self.place})" if self.place else str(self.node)
        text = f"{where}: {self.message}"
        return f"{text}\n{self.trace.rstrip()}" if self.trace else text


def failure(
    fault: Fault, places: Mapping[str | None, str], codes: Mapping[str, ProcessorCode]
) -> RecordFailed:
    """Return the exception for a fault that the operator reported.

    `places`: of the nodes in the program; `codes`: of its processors and functions.
    """
    node = str(fault.get("node"))
    place, message = places.get(node), str(fault.get("message"))
    if fault.get("parameter") not in ("code", "functions"):
        return RecordFailed(fault, place, None)
    # The processor ran with the lines of its file, and the message ends with one of them.
    line = _LINE.search(message)
    if line is not None:
        place, message = line[1], message[: line.start()]
    trace = str(fault.get("stacktrace") or "") or None
    code = codes.get(node)
    if code is not None and trace is not None:
        trace = trace.replace(f'File "{Path(code.file).name}"', f'File "{code.file}"')
    return RecordFailed({**fault, "message": message}, place, trace)
