"""Queries of the stores of a running job, which the job answers itself, on a Unix socket.

Rows come from the databases that the job's tasks use, as of the last committed batch: nothing is
copied and nothing of Spark is planned. A job answers None where it cannot tell, and its checkpoint
is read instead (`millrace_runtime.stores.reading`): on a cluster, while it is paused or asleep, if
all rows of a store have to be read, and if a query takes longer than a second.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any, TypedDict

from millrace_model.reads import StatePage
from millrace_services.line_server import LineServer

from millrace_runtime import columns
from millrace_runtime.checkpoint.storage import Place, folder_of
from millrace_runtime.errors import MillraceError
from millrace_runtime.job.explaining import explain
from millrace_runtime.services import log
from millrace_runtime.stores.reading import StateQuery, committed_page

#: A batch may end while it is read; then the next one is read.
ATTEMPTS = 3


class LiveAnswer(TypedDict):
    """A page of a store; None if the checkpoint has to be read."""

    page: StatePage | None


class LiveStores:
    """The socket of a job. It is opened once the checkpoint is the job's own."""

    def __init__(self, path: str, checkpoint: str) -> None:
        self._checkpoint = checkpoint
        self._ended = False
        self._server = LineServer(path, self._answer)
        # The thread wakes up for queries only; it ends with the process.
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(3600.0,), name="stores", daemon=True).start()

    @classmethod
    def begin(cls, path: str | None, checkpoint: str) -> LiveStores | None:
        """Return the open socket; None without a path, and if it cannot be opened."""
        if path is None:
            return None
        try:
            return cls(path, checkpoint)
        except OSError as error:
            log.write("warning", f"Stores are read from the checkpoint: {error}")
            return None

    def close(self) -> None:
        """Take no further queries. The process is about to end: it does not wait for the thread."""
        self._ended = True
        Path(self._server.path).unlink(missing_ok=True)

    def _answer(self, request: Any) -> object:
        if self._ended:
            return LiveAnswer(page=None)
        try:
            query = StateQuery(**request["query"])
            return LiveAnswer(page=read_live(self._checkpoint, request["store"], query))
        except MillraceError as error:
            return {"error": explain(error).as_dict()}
        except Exception as error:  # noqa: BLE001 - whatever ends the job meanwhile
            log.write("warning", f"A store was not read: {error}")
            return LiveAnswer(page=None)


def follow(location: str) -> None:
    """Keep the states of a query, at this location, ready for queries from its start on."""
    columns.gateway().LiveStates.follow(folder_of(location).absolute().as_uri())


def read_live(location: str, store: str, query: StateQuery) -> StatePage | None:
    """Return a page of a store of this process's job; None if only the checkpoint has it.

    Raises MillraceError like `reading.read_state`.
    """
    scala = columns.gateway().StateReading
    for _ in range(ATTEMPTS):
        try:
            page = committed_page(
                location,
                store,
                query,
                lambda commit, asked: scala.live(json.dumps({**asked, "ids": _ids(commit, asked)})),
            )
        except (OSError, MillraceError) as error:
            if isinstance(error, MillraceError) and error.code not in UNKNOWN:
                raise
            return None
        if page is not None:
            return page
    return None


#: codes of errors that the checkpoint's reader should find itself
UNKNOWN = ("state_unreadable", "no_state_yet")


def _ids(commit: Place, asked: Any) -> list[str]:
    """Return Spark's ids of the states of an operator's tasks; empty in an older format."""
    noted = json.loads(commit.read_text(encoding="utf-8").splitlines()[1])
    return [each[0] for each in (noted.get("stateUniqueIds") or {}).get(str(asked["operator"]), [])]
