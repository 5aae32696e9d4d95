"""Starts the simulator's process: `python -m millrace_runtime.counterexamples.starting`.

The JVM starts first and creates its session, while Python imports PySpark and the compiler. So this
module imports neither of them.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from millrace_runtime.services import confinement
from millrace_runtime.session import early, simulation


def main() -> int:
    """Confine the process, start the JVM, and handle requests."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Other output, also of the JVM, must not end up between the responses.
    answers = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    if folder := os.environ.get(confinement.FOLDER):
        confinement.confine(Path(folder))
    jvm = simulation.early(small=True) if early.possible(os.environ, confined=True) else None
    from millrace_runtime.counterexamples import process

    return process.serve(jvm, answers)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # the parent process has ended
        os._exit(0)
