"""The state of a deployment's tasks after a micro-batch, for a simulation that begins with it.

It is read from the checkpoint, which is not changed; the job need not run and does not wait.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from millrace_model.graphs import GraphNode, TaskGraph
from millrace_model.reads import CommittedBatch, CommittedBatches, RawTaskStates, TaskStates
from millrace_model.state import StateSchema

from millrace_runtime.checkpoint.files import places_in
from millrace_runtime.checkpoint.moving import committed, operators
from millrace_runtime.checkpoint.opening import StateOpening
from millrace_runtime.errors import MillraceError
from millrace_runtime.stores.reading import asked_of, folder_with_notes, session_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Maximum number of rows and bytes of the tasks' stores; simulator requests have at most 16 MB.
MOST_ROWS, MOST_BYTES = 200_000, 10 << 20
#: A checkpoint keeps the state of a hundred micro-batches, or of 400 of a stream thread, which are
#: shorter. So many of them, or this share, remain for a while.
MOST_BATCHES, SHARE = 60, 0.6


def read_batches(location: str) -> CommittedBatches:
    """Return the last committed micro-batches of a checkpoint, the oldest first.

    `{"batches": [{"batch", "at" (ms, when it was planned), "places": {topic: {partition: next
    offset}}}], "subtopologies": {number: tasks}, "levels", "clock": whether processors see the wall
    clock}`. Raises MillraceError `state_unreadable` and `no_state_yet`.
    """
    folder, notes = folder_with_notes(location)
    stream = folder / str(notes.get("stream", "stream"))
    found: list[CommittedBatch] = []
    every = committed(stream)
    for batch in every[-max(MOST_BATCHES, int(SHARE * len(every))) :]:
        file = stream / "offsets" / str(batch)
        try:
            planned = json.loads(file.read_text(encoding="utf-8").splitlines()[1])
            places = places_in(file)
        except FileNotFoundError:
            continue  # Spark deletes the oldest ones
        found.append({"batch": batch, "at": int(planned["batchTimestampMs"]), "places": places})
    return {
        "batches": found,
        "levels": notes.get("levels"),
        "subtopologies": notes.get("subtopologies"),
        "clock": notes.get("clock"),
    }


def read_task_states(
    spark: SparkSession, location: str, batch: int, tasks: Sequence[int] | None
) -> TaskStates:
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
    own = sorted(operators(notes["nodes"]))
    request = {
        "path": stream.absolute().as_uri(),
        "batch": batch,
        # Spark numbers the operators of a plan from its end.
        "operators": {str(level): len(own) - 1 - at for at, level in enumerate(own)},
        "tasks": None if tasks is None else list(tasks),
        "most_rows": MOST_ROWS,
        "most_bytes": MOST_BYTES,
    }
    found: RawTaskStates = asked_of("TaskStates", session_for(spark, location, commit), request)
    return {
        **found,
        "changes": notes.get("changes") or [],
        "nodes": _places(notes["nodes"]),
        "tasks": notes.get("tasks"),
        "levels": notes.get("levels"),
        "subtopologies": notes.get("subtopologies"),
    }


class Begun:
    """The state with which a simulation begins, from `read_task_states`."""

    def __init__(self, found: TaskStates) -> None:
        self._found = found
        self.state = found["state"]
        #: in ms, 0 if no processor reads it
        self.wall_clock = found["wall_clock"]

    @property
    def opening(self) -> StateOpening:
        """The changes that apply to the state."""
        nothing: StateSchema = {"stores": [], "topics": [], "patterns": [], "known": []}
        return StateOpening(nothing, {"changes": self._found["changes"]}, {})

    def require(self, graph: TaskGraph) -> None:
        """Raise MillraceError `state_of_another_version` if the state does not fit a task graph."""
        own = {node["level"] for node in graph["nodes"]}
        known = (
            _places(graph["nodes"]),
            graph["tasks"],
            max(own, default=0) + 1,
            graph["subtopologies"],
        )
        found = self._found
        if known != (found["nodes"], found["tasks"], found["levels"], found["subtopologies"]):
            raise MillraceError(
                "state_of_another_version",
                "The stores in the checkpoint are those of another version, or of topics with "
                "another number of partitions. Start with empty stores.",
            )


def _places(nodes: Sequence[GraphNode]) -> dict[str, list[str | int]]:
    """Return where each step of a task graph runs: its level and sub-topology."""
    return {node["id"]: [node["op"], node["level"], node.get("sub", 0)] for node in nodes}
