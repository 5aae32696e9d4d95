"""Socket activation: a service starts with the first connection to its Unix socket.

The launcher creates the socket and passes it to the service. Connections that arrive before the
service accepts them wait in the socket's queue, so nothing fails because a service is not running.
"""

from __future__ import annotations

import asyncio
import select
from pathlib import Path

from millrace_services import line_server
from millrace_services.local_services import INHERITED


class Listener:
    """The listening socket of a service. Raises OSError if it cannot be created."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._socket = line_server.listen(str(path))

    @property
    def descriptor(self) -> int:
        """The descriptor that the service inherits."""
        return self._socket.fileno()

    @property
    def environment(self) -> dict[str, str]:
        """The variable that names the descriptor to the service."""
        return {INHERITED: str(self.descriptor)}

    async def connection(self) -> None:
        """Wait until a connection is in the queue."""
        loop, waiting = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self.descriptor, waiting.set)
        try:
            await waiting.wait()
        finally:
            loop.remove_reader(self.descriptor)

    def refuse(self) -> None:
        """Close the connections in the queue: the service could not be started for them."""
        while select.select([self._socket], [], [], 0)[0]:
            accepted, _ = self._socket.accept()
            accepted.close()

    def close(self) -> None:
        """Close and delete the socket."""
        self._socket.close()
        self._path.unlink(missing_ok=True)
