"""Dispatch of command lines. Exit codes: 0 success, 1 failure, 2 refused, 3 a record stopped it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

# Neither the compiler nor psutil: usually a resident process does the work, and this one only asks.
from millrace_runtime.errors import MillraceError, ProgramError, StreamStopped

from cli import resident
from cli.arguments import parser
from cli.programs import programs
from launcher.commands import COMMANDS


def main(argv: Sequence[str]) -> int:
    """Run a command. Errors are printed to standard error as sentences, without a traceback."""
    arguments = parser().parse_args(list(argv))
    try:
        answered = resident.ask(arguments, list(argv))
        if answered is not None:
            return answered
        return COMMANDS[arguments.command].function()(arguments)
    except MillraceError as error:
        return refused(error)
    except KeyboardInterrupt:
        from launcher import processes

        # A Java process that is interrupted during its start would wait for Python forever.
        processes.kill_children()
        return 128 + signal.SIGINT
    except BrokenPipeError:  # the reader of the output has exited
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a full disk, a folder that may not be written
        print(f"{error.filename or 'The output'}: {error.strerror or error}.", file=sys.stderr)
        return 1
    except Exception as error:
        code = _of_compiler(error, as_json=getattr(arguments, "json", False))
        if code is None:
            raise
        return code


def refused(error: MillraceError) -> int:
    """Print an error and return the exit code."""
    where = ""
    if error.node and not isinstance(error, ProgramError):
        place = programs.place(None, error.node)
        where = f"{place}: {error.node}: " if place else f"{error.node}: "
    print(f"{where}{error.message}", file=sys.stderr)
    return 3 if isinstance(error, StreamStopped) else 2


def _of_compiler(error: Exception, *, as_json: bool) -> int | None:
    """Print an error of the compiler and return the exit code; None for any other error."""
    from millrace_compiler import AnalyzerUnavailable, DocumentError, Refused

    from cli.documents import diagnostics_of, show_diagnostics

    match error:
        case DocumentError():
            show_diagnostics(diagnostics_of(error), as_json=as_json)
        case Refused():
            show_diagnostics([each.to_json() for each in error.diagnostics], as_json=as_json)
        case AnalyzerUnavailable():
            print(error, file=sys.stderr)
            return 1
        case _:
            return None
    return 2
