"""``./millrace down``, ``status`` and ``logs``."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

from launcher import commands, drivers, places, residents
from launcher.console import Problem, echo

#: long, because the first run also writes the archives for faster starts when it ends
STOP_SECONDS = 180.0


def main(arguments: list[str]) -> int:
    """Run ``down``, ``status`` or ``logs``."""
    return {"down": down, "status": status, "logs": logs}[arguments[0]](arguments[1:])


def down(arguments: list[str]) -> int:
    """Stop the running system and wait until all of its processes have ended."""
    commands.parser("down").parse_args(arguments)
    resident = residents.living()
    if resident:
        residents.stop(resident)
        echo("stopped the resident processes of commands")
    launcher = running_launcher()
    if launcher is None and not held("guardian.lock"):
        echo(f"Millrace is not running for {places.data()}.")
        return 0
    if launcher is not None:
        os.kill(launcher, signal.SIGTERM)
        echo(f"stopping process {launcher}")
    deadline = time.monotonic() + STOP_SECONDS
    while held("lock") or held("guardian.lock"):
        if launcher is not None and time.monotonic() > deadline:
            echo("it did not stop in time and will be killed")
            with suppress(ProcessLookupError):
                os.kill(launcher, signal.SIGKILL)
            deadline += STOP_SECONDS
            launcher = None
        time.sleep(0.1)
    echo("stopped; data is kept in " + str(places.data()))
    return 0


def status(arguments: list[str]) -> int:
    """Print the services; exit code 0 if all run or are asleep, 3 if none is, 1 otherwise."""
    parser = commands.parser("status")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    launcher = running_launcher()
    state: LauncherState = read_state() if launcher is not None else {}
    services = state.get("services", [])
    living = len(drivers.living(places.run() / "drivers", hosts=False))
    resident = [each.pid for each in residents.living()]
    if options.json:
        found = {"running": launcher is not None, "drivers": living, "residents": resident}
        print(json.dumps({**found, **state}))
    elif launcher is None:
        print(f"Millrace is not running for {places.data()}. Start it with ./millrace up")
    else:
        print(f"{state.get('address', '')}  (process {launcher}, data in {places.data()})")
        for service in services:
            restarts = f"  restarted {service['restarts']} times" if service["restarts"] else ""
            print(
                f"  {service['name']:<16} {service['state']:<11} "
                f"{service['pid'] or '':<8}{restarts}"
            )
        print(f"  drivers          {living}")
        print(f"  Kafka            {state.get('kafka', '')}")
    if resident and not options.json:
        print(f"Resident processes of commands: {', '.join(map(str, resident))}")
    if launcher is None:
        return 3
    return 0 if all(one["state"] in {"running", "done", "asleep"} for one in services) else 1


def logs(arguments: list[str]) -> int:
    """Print the last lines of one log or of all; with --follow, also new lines."""
    parser = commands.parser("logs")
    parser.add_argument("name", nargs="?", help="name of a service (default: all)")
    parser.add_argument("--follow", "-f", action="store_true", help="follow the log until Ctrl-C")
    parser.add_argument(
        "--lines", "-n", type=int, default=40, help="number of lines per service (default: 40)"
    )
    options = parser.parse_args(arguments)
    known = {path.stem: path for path in sorted(places.logs().glob("*.log"))}
    if options.name and options.name not in known:
        raise Problem(
            f"There is no log of {options.name!r} in {places.logs()}. "
            f"There are: {', '.join(known) or 'none yet; start with ./millrace up'}."
        )
    chosen = {options.name: known[options.name]} if options.name else known
    width = max((len(name) for name in chosen), default=0)
    positions = {name: _tail(name, path, options.lines, width) for name, path in chosen.items()}
    while options.follow:
        for name, path in chosen.items():
            positions[name] = _since(name, path, positions[name], width)
        time.sleep(0.3)
    return 0


def _tail(name: str, path: Path, count: int, width: int) -> int:
    text = path.read_bytes()
    for line in text.decode(errors="replace").splitlines()[-count:]:
        print(f"{name:<{width}} | {line}")
    return len(text)


def _since(name: str, path: Path, position: int, width: int) -> int:
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        # The file was rotated.
        stream.seek(position if position <= size else 0)
        start = stream.tell()
        text = stream.read()
    whole = text[: text.rfind(b"\n") + 1]
    for line in whole.decode(errors="replace").splitlines():
        print(f"{name:<{width}} | {line}", flush=True)
    return start + len(whole)


class ServiceState(TypedDict):
    """A service; `answered_after`: seconds until it first responded."""

    name: str
    state: str
    pid: int | None
    restarts: int
    answered_after: float | None


class LauncherState(TypedDict, total=False):
    """The launcher's pid, the address of the page, and the services."""

    launcher: int
    address: str
    services: list[ServiceState]


def read_state() -> LauncherState:
    """Return the last state that the launcher has written, or an empty one."""
    with suppress(OSError, ValueError):
        content: LauncherState = json.loads(
            (places.run() / "state.json").read_text(encoding="utf-8")
        )
        return content
    return {}


def running_launcher() -> int | None:
    """Return the pid of the running `up`, or None if the lock is not held."""
    if not held("lock"):
        return None
    with suppress(OSError, ValueError):
        return int((places.run() / "lock").read_text(encoding="utf-8"))
    return None


def held(name: str) -> bool:
    """Return whether a process holds this lock of the run folder."""
    path = places.run() / name
    if not path.exists():
        return False
    with path.open("a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
