"""Ports of this machine: free ones, the users of others, and those used last time."""

from __future__ import annotations

import json
import socket
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from launcher.console import Problem

HOST = "127.0.0.1"
#: abstract sockets that show other launchers which ports this process has chosen
_claims: dict[int, socket.socket] = {}


def is_free(port: int) -> bool:
    """Return whether a server could listen on this port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Servers set this option too: a port whose last owner has just closed it is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return not answers(port)


def answers(port: int) -> bool:
    """Return whether a server accepts connections on this port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((HOST, port)) == 0


def claim(port: int) -> bool:
    """Claim a port among all launchers of this machine until this process ends.

    Return whether it succeeded. Another installation may start in the seconds between the choice of
    a port and the start of its server. A claim is an abstract socket, which only Linux has; on
    other systems, nothing is claimed.
    """
    if port in _claims or not sys.platform.startswith("linux"):
        return True
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0millrace-port-{port}")
    except OSError:
        name.close()
        return False
    _claims[port] = name
    return True


def owner(port: int) -> str:
    """Return the program that listens on a port, if this user may know it."""
    with suppress(psutil.Error, PermissionError):
        for connection in psutil.net_connections("tcp"):
            if (
                connection.status == psutil.CONN_LISTEN
                and connection.laddr
                and connection.laddr.port == port
                and connection.pid
            ):
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return "another program"


def demand(port: int, purpose: str) -> int:
    """Return this port. Raises Problem if it is in use."""
    if not 0 < port < 65536:
        raise Problem(f"{port} is not a port; use a number from 1 to 65535.")
    if not (is_free(port) and claim(port)):
        raise Problem(
            f"Port {port}, needed by {purpose}, is in use by {owner(port)}. "
            f"Stop it, or choose another port: ./millrace up --port {port + 1}"
        )
    return port


def choose(notes: Path, wanted: dict[str, int]) -> dict[str, int]:
    """Choose and store a free port for each name: the previous one, the usual one, or any."""
    before: dict[str, int] = {}
    with suppress(OSError, ValueError):
        before = json.loads(notes.read_text(encoding="utf-8"))
    chosen: dict[str, int] = {}
    for name, usual in wanted.items():
        for port in (before.get(name, usual), usual):
            if port not in chosen.values() and is_free(port) and claim(port):
                chosen[name] = port
                break
        else:
            chosen[name] = _any_free(set(chosen.values()) | set(wanted.values()))
    notes.write_text(json.dumps(chosen), encoding="utf-8")
    return chosen


def _any_free(except_for: set[int]) -> int:
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.bind((HOST, 0))
            port: int = probe.getsockname()[1]
        if port not in except_for and claim(port):
            return port
