"""The state of a deployment's tasks after a micro-batch, for a simulation that begins with it.

It is read from the checkpoint, which is not changed; the job need not run and does not wait.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from millrace_runtime.checkpoint.files import places_in
from millrace_runtime.checkpoint.opening import StateOpening
from millrace_runtime.errors import MillraceError
from millrace_runtime.stores.moving import committed, operators
from millrace_runtime.stores.reading import asked_of, folder_with_notes, session_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Maximum number of rows and bytes of the tasks' stores; simulator requests have at most 16 MB.
MOST_ROWS, MOST_BYTES = 200_000, 10 << 20
#: Spark keeps the state of a hundred micro-batches; the newest of these remain for a while.
MOST_BATCHES = 60
_TASKS = ("tasks", "levels", "subtopologies")


def read_batches(location: str) -> dict[str, Any]:
    """Return the last committed micro-batches of a checkpoint, the oldest first.

    `{"batches": [{"batch", "at" (ms, when it was planned), "places": {topic: {partition: next
    offset}}}], "subtopologies": {number: tasks}, "levels", "clock": whether processors see the wall
    clock}`. Raises MillraceError `state_unreadable` and `no_state_yet`.
    """
    folder, notes = folder_with_notes(location)
    stream = folder / str(notes.get("stream", "stream"))
    found = []
    for batch in committed(stream)[-MOST_BATCHES:]:
        file = stream / "offsets" / str(batch)
        try:
            planned = json.loads(file.read_text(encoding="utf-8").splitlines()[1])
            places = places_in(file)
        except FileNotFoundError:
            continue  # Spark deletes the oldest ones
        found.append({"batch": batch, "at": int(planned["batchTimestampMs"]), "places": places})
    what = {name: notes.get(name) for name in ("levels", "subtopologies", "clock")}
    return {"batches": found, **what}


def read_task_states(
    spark: SparkSession, location: str, batch: int, tasks: Sequence[int] | None
) -> dict[str, Any]:
    """Return the state after a committed micro-batch, for a simulation that begins with it.

    `tasks`: their indexes, None for all. Raises MillraceError `state_unreadable` if the state no
    longer exists, and `state_too_large` beyond the limits above.
    """
    folder, notes = folder_with_notes(location)
    stream = folder / str(notes.get("stream", "stream"))
    commit = stream / "commits" / str(batch)
    if "nodes" not in notes or not commit.exists():
        raise MillraceError(
            "state_unreadable",
            f"The checkpoint no longer has the state of batch {batch}. Follow the record "
            "again, or start with empty stores.",
        )
    own = sorted(operators(node for node in notes["nodes"] if not node.get("plain")))
    request = {
        "path": stream.absolute().as_uri(),
        "batch": batch,
        # Spark numbers the operators of a plan from its end.
        "operators": {str(level): len(own) - 1 - at for at, level in enumerate(own)},
        "tasks": None if tasks is None else list(tasks),
        "most_rows": MOST_ROWS,
        "most_bytes": MOST_BYTES,
    }
    found = asked_of("TaskStates", session_for(spark, location, commit), request)
    return {
        **found,
        "changes": notes.get("changes") or [],
        "names": notes.get("names") or {},
        "nodes": _places(notes["nodes"]),
        **{name: notes.get(name) for name in _TASKS},
    }


class Begun:
    """The state with which a simulation begins, from `read_task_states`."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._found = found
        self.state: str = found["state"]
        #: in ms, 0 if no processor reads it
        self.wall_clock: int = found["wall_clock"]

    @property
    def opening(self) -> StateOpening:
        """The names of stores in the state, and the changes that apply to it."""
        return StateOpening({}, {name: self._found[name] for name in ("changes", "names")}, {})

    def require(self, graph: Mapping[str, Any]) -> None:
        """Raise MillraceError `state_of_another_version` if the state does not fit a task graph."""
        own = {node["level"] for node in graph["nodes"]}
        known = {
            "nodes": _places(graph["nodes"]),
            "tasks": graph["tasks"],
            "levels": max(own, default=0) + 1,
            "subtopologies": graph["subtopologies"],
        }
        if any(self._found[name] != value for name, value in known.items()):
            raise MillraceError(
                "state_of_another_version",
                "The stores in the checkpoint are those of another version, or of topics with "
                "another number of partitions. Start with empty stores.",
            )


def _places(nodes: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return where each step of a task graph runs: its level and sub-topology."""
    return {node["id"]: [node["op"], node["level"], node.get("sub", 0)] for node in nodes}
