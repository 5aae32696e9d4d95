"""Runs programs in forks of a process that has already imported what programs import.

Importing the names of a program takes half a second, of which a fork takes none. The resident
process forks this one at its start, when it has neither threads nor a Java. Each program runs in a
fork of its own, with the folder, environment and streams of the caller, as in the caller itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import traceback
from typing import Any, TypedDict

from millrace_model.events import ErrorFields
from millrace_runtime.errors import MillraceError, ProgramError

from cli.documenting import document_of_program
from cli.programs import Programs
from cli.resident import Request
from launcher import processes, residents


class Answer(TypedDict, total=False):
    """What came of the programs: one of the first three fields."""

    programs: Programs
    error: ErrorFields
    #: the exit code of a process that has ended
    ended: int
    #: whether the error is a ProgramError
    of_program: bool


class Ended(Exception):
    """A program ended its process, or an error that is no fault of the program was printed."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = code


class Preloaded:
    """The process that waits for programs. Create it before this process has threads."""

    def __init__(self) -> None:
        self._connection, other = socket.socketpair()
        if os.fork() == 0:
            self._connection.close()
            processes.end_with_parent()
            with contextlib.suppress(OSError):
                _serve(other)
            os._exit(0)
        other.close()

    def read(self, request: Request, descriptors: list[int]) -> Programs:
        """Return the documents of programs. `descriptors`: the caller's standard streams.

        Raises MillraceError as `document_of_program`, and Ended.
        """
        text = json.dumps(request).encode()
        socket.send_fds(self._connection, [len(text).to_bytes(8, "big")], descriptors)
        self._connection.sendall(text)
        size = int.from_bytes(residents.exactly(self._connection, 8), "big")
        answer: Answer = _read(self._connection, size)
        if "ended" in answer:
            raise Ended(answer["ended"])
        if "error" in answer:
            kind, error = ProgramError if answer["of_program"] else MillraceError, answer["error"]
            raise kind(
                error["code"], error["message"], node=error["node"], parameter=error["parameter"],
                facts=error.get("facts"), cause=MillraceError.of_cause(error.get("cause")),
            )  # fmt: skip
        return answer["programs"]


def _serve(connection: socket.socket) -> None:
    """Fork a process for each request until the connection is closed."""
    while True:
        head, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
        if not head:
            return
        request: Request = _read(connection, int.from_bytes(head, "big"))
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            connection.close()
            processes.end_with_parent()
            with contextlib.suppress(OSError):
                _write(writing, _run(request, descriptors))
            os._exit(0)
        for each in (writing, *descriptors):
            os.close(each)
        with os.fdopen(reading, "rb") as pipe:
            answer = pipe.read(int.from_bytes(pipe.read(8), "big"))
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        ended = json.dumps({"ended": code if code >= 0 else 128 - code}).encode()
        _send(connection, answer or ended)


def _run(request: Request, descriptors: list[int]) -> Answer:
    """Run programs in this process, which ends afterwards."""
    residents.become(request, descriptors)
    try:
        found = {path: document_of_program(path) for path in request["run"]}
        programs: Programs = {
            "documents": {path: document for path, (document, _, _) in found.items()},
            "places": {path: places for path, (_, places, _) in found.items()},
            "lines": {path: lines for path, (_, _, lines) in found.items()},
        }
        answer: Answer = {"programs": programs}
        json.dumps(answer)
    except MillraceError as error:
        answer = {"error": error.as_dict(), "of_program": isinstance(error, ProgramError)}
    except KeyboardInterrupt:
        answer = {"ended": 130}
    except BaseException:  # noqa: BLE001 - as an error of the command itself
        traceback.print_exc()
        answer = {"ended": 1}
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return answer


def _write(pipe: int, answer: Answer) -> None:
    text = json.dumps(answer).encode()
    with os.fdopen(pipe, "wb") as stream:
        stream.write(len(text).to_bytes(8, "big") + text)


def _send(connection: socket.socket, text: bytes) -> None:
    connection.sendall(len(text).to_bytes(8, "big") + text)


def _read(connection: socket.socket, size: int) -> Any:
    return json.loads(residents.exactly(connection, size))
