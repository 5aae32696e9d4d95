"""Moving of state: a new checkpoint written from the old one if levels, tasks or sources changed.

The old folder is only read. The new folder is next to it, and its name contains the time. The notes
(`checkpoint.NOTES`) name the folder that the job uses, and change after the new job's first batch.
Until then, the notes of the move are in a separate file: the same job continues with the moved
state, and another version begins where the old one stopped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from millrace_compiler.declarations.steps import GLOBAL_STEPS
from millrace_model.graphs import GraphNode, TaskGraph
from millrace_model.notes import Kept, MovedFrom, Notes
from millrace_model.reading import read

from millrace_runtime.checkpoint.files import Places, places_in, write_notes
from millrace_runtime.checkpoint.storage import (
    Place,
    matching,
    names,
    remove_folder,
    write_whole,
)
from millrace_runtime.errors import MillraceError

if TYPE_CHECKING:
    from millrace_model.events import CauseFields
    from pyspark.sql import SparkSession

    from millrace_runtime.checkpoint.starting_point import Beginner

#: The file with the notes of a completed move, until the job's first batch.
WAITING = "stores.next.json"
PROGRESS_SECONDS = 1.0
_PLACES: tuple[Literal["tasks", "levels", "clock"], ...] = ("tasks", "levels", "clock")
SOURCES = ("stream", "table", *GLOBAL_STEPS)
#: Steps whose children are on a later level because there is a topic in between.
_HOPS = ("repartition", "group_by", "foreign_key_subscribe", "foreign_key_lookup")


@dataclasses.dataclass(frozen=True)
class Read:
    """One Kafka source of the query: what it reads, and where it begins."""

    start: str
    topics: tuple[str, ...]
    patterns: tuple[str, ...]


def reads_of(nodes: Iterable[GraphNode]) -> list[Read]:
    """Return the Kafka sources of a task graph, in the query's order: one per start position."""
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for node in nodes:
        if node["op"] not in SOURCES:
            continue
        params = node["params"]
        topics, patterns = found.setdefault(params.get("start", "earliest"), ({}, {}))
        named = params.get("topics") or ([params["topic"]] if "topic" in params else [])
        topics.update(dict.fromkeys(named))
        if pattern := params.get("pattern"):
            patterns[pattern] = None
    return [
        Read(start, tuple(topics), tuple(patterns)) for start, (topics, patterns) in found.items()
    ]


def must_move(before: Notes, now: Notes, *, begins_late: bool) -> bool:
    """Whether a job looks for state and offsets in other places than the checkpoint has them.

    `before`, `now`: notes of checkpoints. `begins_late`: new topics begin at their ends, while
    Spark would read them from the beginning.
    """
    if any(before.get(what, now[what]) != now[what] for what in _PLACES):
        return True
    old, new = ({node["id"]: node for node in notes["nodes"]} for notes in (before, now))
    if any(_block(old[id_]) != _block(new[id_]) for id_ in old.keys() & new.keys()):
        return True
    if now["tasks"] > 1 and any(
        _formats(old, id_) != _formats(new, id_) for id_ in old.keys() & new.keys()
    ):
        return True
    if operators(old.values()) != operators(new.values()) or _wires(new) - _wires(old):
        return True
    if before.get("subtopologies", now["subtopologies"]) != now["subtopologies"]:
        return True
    were, are = reads_of(before["nodes"]), reads_of(now["nodes"])
    if [read.start for read in were] != [read.start for read in are]:
        return True
    return any(
        set(new_read.topics) - set(old_read.topics) and (begins_late or new_read.start == "latest")
        for old_read, new_read in zip(were, are, strict=True)
    )


def _block(node: GraphNode) -> tuple[int, int]:
    return node["level"], node.get("sub", 0)


def _formats(nodes: Mapping[str, GraphNode], id_: str) -> set[str]:
    """Return the formats of the keys that assign records to the tasks of a node's sub-topology."""
    return {
        node["params"]["key"]["format"]
        for node in nodes.values()
        if node["op"] in ("stream", "table") and node.get("sub", 0) == nodes[id_].get("sub", 0)
        if "key" in node["params"]
    }


def operators(nodes: Iterable[GraphNode]) -> set[int]:
    """Return the levels of stream tasks."""
    return {node["level"] for node in nodes}


def _wires(nodes: Mapping[str, GraphNode]) -> set[tuple[str, str]]:
    """Return edges to a later level of the same task, whose nodes may keep a copy of a table."""
    return {
        (parent, id_)
        for id_, node in nodes.items()
        for parent, _ in node.get("parents", [])
        if parent in nodes
        and nodes[parent]["op"] not in _HOPS
        and nodes[parent]["level"] != node["level"]
    }


def committed(stream: Place) -> list[int]:
    """Return the completed batches of a query that Spark still keeps, in ascending order."""
    return sorted(_numbers(stream / "commits"))


def last_batch(stream: Place) -> int | None:
    """Return the last completed batch of a query; None before the first."""
    return max(_numbers(stream / "commits"), default=None)


def _numbers(folder: Place) -> list[int]:
    return [int(name) for name in names(folder) if name.isdecimal()]


def waiting(folder: Place) -> Notes | None:
    """Return the notes of a completed move that waits for the job's first batch, or None."""
    try:
        return read(Notes, json.loads((folder / WAITING).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return None


def arrived(folder: Place, moved: Notes) -> bool:
    """Whether the job of a move has completed a batch, so that the checkpoint is its own.

    The first batch of a moved state is the move, and Spark may add one without records: what counts
    is that the job has read something.
    """
    stream = folder / moved["stream"]
    last = last_batch(stream)
    if last is None:
        return False
    try:
        now = _read_to(stream / "offsets" / str(last))
        if moved["base"].get("empty"):
            return now != [line for file in _begun(stream) for line in _read_to(file, head=1)]
        return now != _read_to(stream / "offsets" / "0")
    except FileNotFoundError:
        return last > 0  # Spark has deleted the offsets of old batches


def _begun(stream: Place) -> list[Place]:
    """Return the files with the first offsets of a query's sources, in the sources' order."""
    return sorted(matching(stream, "sources/*/0"), key=lambda file: int(file.parent.name))


def _read_to(offsets: Place, *, head: int = 2) -> list[Any]:
    """Return how far each source has read, according to Spark's log."""
    return [json.loads(line) for line in offsets.read_text(encoding="utf-8").splitlines()[head:]]


def new_name() -> str:
    """Return a name for a new query's folder, which contains the time."""
    return f"stream-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"


def kept_with(folder: Place, before: Notes, base: MovedFrom, name: str) -> list[Kept]:
    """Return the existing folders that versions left, and the one that `name` replaces."""
    left: Kept = {
        "stream": base["stream"],
        "batch": base["batch"],
        "left": name.removeprefix("stream-"),
    }
    return [*(each for each in before.get("kept", []) if (folder / each["stream"]).is_dir()), left]


def forget_unfinished(folder: Place, before: Notes, again: Notes | None) -> None:
    """Remove unused moves; the notes list the folders on which jobs have run."""
    (folder / WAITING).unlink(missing_ok=True)
    used = {before.get("stream", "stream")}
    used |= {each["stream"] for each in before.get("kept", [])}
    for left in folder.glob("stream-*"):
        if left.name not in used and (again is None or not arrived(folder, again)):
            remove_folder(left)


def empty_stream(folder: Place, before: Notes, now: Notes) -> str:
    """Write waiting notes for a query that begins without state, and return its folder's name."""
    source = str(before.get("stream", "stream"))
    base: MovedFrom = {"stream": source, "batch": last_batch(folder / source), "empty": True}
    again = waiting(folder)
    if again is not None and (again.get("base"), again.get("nodes"), again.get("begun")) == (
        base,
        now["nodes"],
        now["begun"],
    ):
        return str(again["stream"])
    forget_unfinished(folder, before, again)
    name = new_name()
    kept = kept_with(folder, before, base, name)
    write_notes(folder / WAITING, {**now, "stream": name, "kept": kept, "base": base})
    return name


def require_whole(source: Place, batch: int | None, client: Mapping[str, str], tasks: int) -> None:
    """Raise MillraceError `batch_unfinished` if a batch is partly in Kafka's transactions.

    Only the job itself can finish such a batch. `batch`: the last completed one.
    """
    begun = 0 if batch is None else batch + 1
    if begun not in _numbers(source / "offsets"):
        return
    query = json.loads((source / "metadata").read_text(encoding="utf-8"))["id"]
    from millrace_runtime import columns

    if columns.gateway().KafkaSink.wroteAfter(json.dumps(dict(client)), query, tasks, begun):
        raise MillraceError(
            "batch_unfinished",
            f"The last batch in {source} was interrupted after a part of it had been written "
            "exactly once. Run the previous version until the batch is finished, stop it, and "
            "start again.",
        )


_PHASES = {
    "reading": ("moving_state", "Moving the state: reading it."),
    "writing": ("moving_state_written", "Moving the state: {rows} rows written."),
    "checking": (
        "moving_state_checked",
        "Moving the state: {rows} rows written, reading them back.",
    ),
}


@contextlib.contextmanager
def reporting(report: Callable[[CauseFields], None], progress: Callable[[], str]) -> Iterator[None]:
    """Report the progress of a move until it ends. `progress`: its JSON, with phase and rows."""
    ended = threading.Event()

    def work() -> None:
        while not ended.wait(PROGRESS_SECONDS):
            with contextlib.suppress(Exception):  # the session may be going away
                found = json.loads(progress())
                code, sentence = _PHASES[found["phase"]]
                facts = {"rows": f"{found['rows']:,}"}
                report({"code": code, "message": sentence.format(**facts), "facts": facts})

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@dataclasses.dataclass
class Move:
    """Moves the state of one job to another: `run` returns the new folder's name.

    `client`: Kafka client settings; `start`: where new topics begin, which overrides their sources;
    `log`: writes a line to the log.
    """

    spark: SparkSession
    folder: Place
    before: Notes
    now: Notes
    graph: TaskGraph
    client: Mapping[str, str]
    start: str | None
    exactly_once: bool
    log: Callable[[str], None]
    #: finds other offsets than those where the old job stopped
    beginner: Beginner | None = None
    #: called with the progress of the move every few seconds, by another thread
    report: Callable[[CauseFields], None] = lambda step: None

    def run(self) -> str:
        """Write the new checkpoint, read it back, and note it.

        Raises MillraceError `batch_unfinished` if the old job had begun to write a batch in
        transactions and could not finish it.
        """
        source = self.folder / str(self.before.get("stream", "stream"))
        batch = last_batch(source)
        if batch is None:
            return source.name
        again = waiting(self.folder)
        base: MovedFrom = {"stream": source.name, "batch": batch}
        if (
            again is not None
            and (again["base"], again["nodes"]) == (base, self.now["nodes"])
            and again.get("begun") == self.now.get("begun")
        ):
            return str(again["stream"])
        if self.exactly_once and (self.beginner is None or self.beginner.continues):
            require_whole(source, batch, self.client, self.before["tasks"])
        name = new_name()
        forget_unfinished(self.folder, self.before, again)
        rows = self._write(source, batch, self.folder / name)
        self._begin_at(self.folder / name, places_in(source / "offsets" / str(batch)))
        kept = kept_with(self.folder, self.before, base, name)
        noted: Notes = {**self.now, "stream": name, "kept": kept, "base": base}
        write_notes(self.folder / WAITING, noted)
        total = sum(rows.values())
        self.log(
            f"The state was moved to {self.folder / name}: {total} rows of {len(rows)} stores, "
            f"verified. The old state is kept in {source}."
        )
        return name

    def _write(self, source: Place, batch: int, target: Place) -> dict[str, int]:
        move = {
            "from": source.absolute().as_uri(),
            "to": target.absolute().as_uri(),
            "batch": batch,
            "old": dict(self.before),
            "partitions": self.now["tasks"],
            "changes": self.now.get("changes", []),
        }
        from millrace_runtime import columns

        moving = columns.gateway().StateMove
        with reporting(self.report, moving.progress):
            moved = moving.move(
                self.spark._jsparkSession, json.dumps(dict(self.graph)), json.dumps(move)
            )
        rows: dict[str, int] = json.loads(moved)["rows"]
        return rows

    def _begin_at(self, target: Place, places: Places) -> None:
        """Give the query the sources of the job, beginning where the old one stopped.

        Spark reads partitions that are not listed here from their beginning.
        """
        offsets = target / "offsets" / "0"
        version, settings, *_ = offsets.read_text(encoding="utf-8").splitlines()
        lines = [json.dumps(self._begin(read, places)) for read in reads_of(self.now["nodes"])]
        if self.now["clock"]:
            lines.append("0")
        remove_folder(target / "sources")
        (target / "offsets" / ".0.crc").unlink(missing_ok=True)
        write_whole(offsets, "\n".join([version, settings, *lines]))

    def _begin(self, read: Read, places: Places) -> Places:
        from millrace_runtime.kafka import topics

        if self.beginner is not None:
            return self.beginner.places(read.topics, "|".join(read.patterns) or None, read.start)
        named = dict.fromkeys(read.topics)
        whole = {
            topic
            for node in self.now["nodes"]
            if node["op"] in GLOBAL_STEPS
            for topic in [*(node["params"].get("topics") or []), node["params"].get("topic")]
        }
        matching: dict[str, int] = {}
        for pattern in read.patterns:
            matching |= topics.matching(self.spark, dict(self.client), pattern)
        named |= dict.fromkeys(matching)
        known = {topic: places[topic] for topic in named if topic in places}
        late = [topic for topic in named if topic not in places and topic not in whole]
        if (self.start or read.start) == "latest" and late:
            known |= topics.ends(self.spark, dict(self.client), late)
        return known
