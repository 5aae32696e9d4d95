"""The task graph: what the stream-task operator runs, as JSON, built call by call.

Every call appends one node. Calls come in the order in which Kafka Streams would add the nodes, so
the order of a node's children is the order of their calls [PL3].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace_runtime.task import Task


class Graph:
    """The nodes of a job in the order in which they were added."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.open: Task | None = None
        self._index: dict[str, int] = {}

    def add(
        self,
        op: str,
        id: str,
        node: str | None,
        sub: int,
        level: int,
        parents: Sequence[Handle] = (),
        **params: Any,
    ) -> int:
        """Append a node and return its index, which is the `dest` of rows that it takes."""
        if id in self._index:
            raise ValueError(f"the physical id {id!r} is used twice")
        index = len(self.nodes)
        self._index[id] = index
        self.nodes.append(
            {
                "id": id,
                "node": node or id,
                "op": op,
                "sub": sub,
                "level": level,
                "parents": [[parent.id, parent.port] for parent in parents],
                "params": {key: value for key, value in params.items() if value is not None},
            }
        )
        return index

    def index(self, id: str) -> int:
        """The index of a physical node."""
        return self._index[id]


@dataclass(frozen=True)
class Handle:
    """An output port of a node in a stream task."""

    task: Task
    id: str
    port: str = "out"

    def _then(
        self, op: str, id: str, node: str | None, *others: Handle, **params: Any
    ) -> tuple[Task, str]:
        # A handle of an earlier level used here is a wire: the node belongs to the open level.
        task = self.task.job.graph.open or self.task
        return task.add(op, id, node, (self, *others), **params)
