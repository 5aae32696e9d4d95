"""`python -m launcher.residing BASE`: the resident process that keeps the backend loaded.

Loading the backend takes most of the time of a command on a deployment. This process does it once,
listens at BASE.sock, and runs each command in a fork of its own, which ends with its caller. It has
neither threads nor connections. It ends after some idle minutes, or with SIGTERM.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import socket
import sys
import threading
import traceback
from importlib import import_module
from pathlib import Path

from launcher import deployments, processes, residents

#: what the commands import when they run
_LOADED = (
    "deployments.management.acting",
    "deployments.actions",
    "deployments.state_plan",
    "millrace_compiler.isolated.here",
    "millrace_compiler.state.state_changes",
    "millrace_compiler.state.state_schema",
    "topologies.compiling",
    "millrace_backend.urls",
    "millrace_runtime.program",
)


class _Leave(BaseException):
    """SIGTERM."""


def main(base: Path) -> int:
    """Serve commands until the process has been idle for long enough."""
    _load()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    running: set[int] = set()
    server = residents.listen(base)
    try:
        while True:
            try:
                connection, _ = server.accept()
            except TimeoutError:
                running = _remaining(running)
                if not running:
                    break
                continue
            with connection:
                if residents.peer(connection) in (None, os.getuid()):
                    _fork(connection, server, running)
            running = _remaining(running)
    except _Leave:
        pass
    residents.forget(base)
    for child in running:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
    return 0


def _leave(*_: object) -> None:
    raise _Leave


def _load() -> None:
    """Load the backend, with the settings of this process."""
    import django

    django.setup()
    from django.core.management import get_commands

    for command, app in get_commands().items():
        if command.startswith("millrace_"):
            import_module(f"{app}.management.commands.{command}")
    for name in _LOADED:
        import_module(name)


def _remaining(children: set[int]) -> set[int]:
    """Return the children that still run."""
    return {child for child in children if os.waitpid(child, os.WNOHANG) == (0, 0)}


def _fork(connection: socket.socket, server: socket.socket, running: set[int]) -> None:
    """Run a command in a fork."""
    found = residents.received(connection)
    if found is None:
        return
    request: deployments.Request
    request, descriptors = found
    child = os.fork()
    if child:
        running.add(child)
        for each in descriptors:
            os.close(each)
        return
    code = 1
    try:
        server.close()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        processes.end_with_parent()
        threading.Thread(target=_watch, args=(connection,), daemon=True).start()
        residents.become(request, descriptors)
        # A fork of what this process has loaded: a compiler process would load it again.
        import_module("topologies.compiling").compile_here()
        code = deployments.run_here(request["arguments"])
    except BaseException:  # noqa: BLE001 - as an error of the command itself
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()  # such as the end of compiler processes
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            connection.sendall(bytes([code & 0xFF]))
        os._exit(0)


def _watch(connection: socket.socket) -> None:
    """End the fork if its caller goes away."""
    with contextlib.suppress(OSError):
        if connection.recv(1, socket.MSG_PEEK):
            return
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
