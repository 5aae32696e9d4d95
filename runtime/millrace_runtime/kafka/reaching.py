"""Whether a broker can be reached, before Spark has started."""

from __future__ import annotations

import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Mapping

from millrace_runtime.errors import MillraceError

#: how long a broker may take to answer
ANSWER_SECONDS = 5
_RETRY_SECONDS = 0.2
#: host and port as Kafka reads them, perhaps behind a protocol
_ADDRESS = re.compile(r".*?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")


def unreachable(servers: str, seconds: float = ANSWER_SECONDS) -> MillraceError:
    """Return the error for brokers that do not respond within a number of seconds."""
    return MillraceError(
        "broker_unreachable",
        f"The broker at {servers} does not respond within {seconds:g} s. Check its "
        "address, the network and that it is running.",
        facts={"servers": servers, "seconds": seconds},
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


def require_reachable(
    servers: str | None, protocol: str | None = None, seconds: float | None = None
) -> None:
    """Ask the brokers for their versions, and close the connections when one has answered.

    `protocol`: the security protocol of the connections. Raises MillraceError `broker_unreachable`
    if none answers within a number of seconds, by default five. An address that is not valid is
    left to Kafka's client, which says what is wrong with it.
    """
    found = [_ADDRESS.fullmatch(each.strip()) for each in (servers or "").split(",")]
    places = [(each[1], int(each[2])) for each in found if each is not None]
    if servers is None or len(places) < len(found):
        return
    reached = threading.Event()
    patience = ANSWER_SECONDS if seconds is None else seconds
    deadline = time.monotonic() + patience
    question = _hello() if (protocol or "").upper().endswith("SSL") else _versions()
    for place in places:
        asking = (place, question, reached, deadline)
        threading.Thread(target=_ask, args=asking, daemon=True).start()
    if not reached.wait(patience):
        raise unreachable(servers, patience)


def _ask(
    place: tuple[str, int], question: bytes, reached: threading.Event, deadline: float
) -> None:
    """Try until there is an answer, as a broker may be starting.

    A connection that is closed counts as one: then Kafka's client knows why.
    """
    while not reached.is_set() and (left := deadline - time.monotonic()) > 0:
        try:
            with socket.create_connection(place, timeout=left) as connection:
                connection.settimeout(max(0.001, deadline - time.monotonic()))
                connection.sendall(question)
                connection.recv(1)
        except ConnectionResetError:
            reached.set()
        except (OSError, OverflowError):
            time.sleep(_RETRY_SECONDS)
        else:
            reached.set()


def _versions() -> bytes:
    """A request that each release answers before authentication: ApiVersions, version 0."""
    name = b"millrace"
    request = struct.pack(">hhih", 18, 0, 1, len(name)) + name
    return struct.pack(">i", len(request)) + request


def _hello() -> bytes:
    """The first message of TLS. Certificates are the matter of Kafka's client."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    sent = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), sent).do_handshake()
    except ssl.SSLWantReadError:
        return sent.read()
    return b""
