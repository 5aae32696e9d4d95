"""Whether a broker can be reached, before Spark has started."""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Mapping

from millrace_runtime.errors import MillraceError

#: how long a broker may take to answer
ANSWER_SECONDS = 5
_RETRY_SECONDS = 0.2
#: host and port as Kafka reads them, perhaps behind a protocol
_ADDRESS = re.compile(r".*?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")


def unreachable(servers: str) -> MillraceError:
    """Return the error for brokers that do not respond."""
    return MillraceError(
        "broker_unreachable",
        f"The broker at {servers} does not respond within {ANSWER_SECONDS} s. Check its "
        "address, the network and that it is running.",
        facts={"servers": servers, "seconds": ANSWER_SECONDS},
    )


def uses_broker(document: Mapping[str, object]) -> bool:
    """Whether a document reads or writes topics. Other streams are read from files."""
    nodes = document.get("nodes")
    for node in nodes if isinstance(nodes, list) else ():
        match node:
            case {"kind": "sink.topic"}:
                return True
            case {"kind": str(kind), "params": {**params}} if kind.startswith("source."):
                if not params.get("reader"):
                    return True
    return False


def require_reachable(servers: str | None) -> None:
    """Connect to one of the brokers, and close the connection.

    Raises MillraceError `broker_unreachable` if none accepts one within five seconds. An address
    that is not valid is left to Kafka's client, which says what is wrong with it.
    """
    found = [_ADDRESS.fullmatch(each.strip()) for each in (servers or "").split(",")]
    places = [(each[1], int(each[2])) for each in found if each is not None]
    if servers is None or len(places) < len(found):
        return
    reached = threading.Event()
    deadline = time.monotonic() + ANSWER_SECONDS
    for place in places:
        threading.Thread(target=_connect, args=(place, reached, deadline), daemon=True).start()
    if not reached.wait(ANSWER_SECONDS):
        raise unreachable(servers)


def _connect(place: tuple[str, int], reached: threading.Event, deadline: float) -> None:
    """Try until a connection is made, as a broker may be starting."""
    while not reached.is_set() and (left := deadline - time.monotonic()) > 0:
        try:
            socket.create_connection(place, timeout=left).close()
        except (OSError, OverflowError):
            time.sleep(_RETRY_SECONDS)
        else:
            reached.set()
