"""A job's checkpoint folder: Spark's own checkpoint, and notes about the job that wrote it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from millrace_compiler.declarations.steps import GLOBAL_STEPS
from millrace_model.graphs import TaskGraph
from millrace_model.notes import NotedStore, Notes
from millrace_model.reading import read

from millrace_runtime.checkpoint import moving
from millrace_runtime.checkpoint.files import write_notes
from millrace_runtime.checkpoint.opening import StateOpening
from millrace_runtime.checkpoint.starting_point import Beginning, due
from millrace_runtime.checkpoint.storage import Place, folder_of, write_whole
from millrace_runtime.errors import MillraceError

#: of the state and of the notes; a checkpoint of another one is refused
LAYOUT = 3
NOTES = "stores.json"
_PLACES: tuple[Literal["tasks", "levels"], ...] = ("tasks", "levels")
#: file with the name of the run that most recently completed its first batch
ARRIVED = "arrived"
#: file beside copied notes that contains the URI of the checkpoint
LOCATION = "location"

#: Writes a new checkpoint from the notes of the old one and of the job; returns its folder's name.
Mover = Callable[[Notes, Notes], str]


def stream_location(location: str, name: str = "stream") -> str:
    """Return the location of Spark's own checkpoint of the streaming query."""
    return f"{location.rstrip('/')}/{name}"


def settle(location: str) -> None:
    """Adopt a moved state on which a batch was completed before that could be noted."""
    folder = folder_of(location)
    moved = moving.waiting(folder)
    if moved is not None and moving.arrived(folder, moved):
        _note_moved(folder, moved)


def _note_moved(folder: Place, moved: Notes) -> None:
    noted = moved.copy()
    noted.pop("base", None)
    write_notes(folder / NOTES, noted)
    (folder / moving.WAITING).unlink(missing_ok=True)


def notes_of(location: str) -> Notes:
    """Return the notes about the job that wrote a checkpoint; empty for a new one.

    Raises MillraceError `checkpoint_mismatch_layout` for the checkpoint of a version with another
    layout, and `checkpoint_mismatch_notes` if the notes are damaged.
    """
    file = folder_of(location) / NOTES
    return _noted(file) if file.exists() else {}


def metadata_of(
    graph: TaskGraph,
    shuffle_partitions: int,
    *,
    clock: bool = False,
    state: StateOpening | None = None,
) -> Notes:
    """Return what must not change for a checkpoint to fit: levels, tasks, stores by identity."""
    stores: list[NotedStore] = []
    for node in graph["nodes"]:
        own = node["params"].get("store")
        stores.extend(
            {
                "name": store["name"],
                "node": store["node"],
                "kind": store["kind"],
                "operator": node["id"],
                "level": node["level"],
            }
            for store in ([own] if own else node["params"].get("stores", []))
        )
    levels = max((node["level"] for node in graph["nodes"]), default=0) + 1
    notes: Notes = {
        "layout": LAYOUT,
        "tasks": shuffle_partitions,
        "clock": clock,
        "levels": levels,
        "subtopologies": graph.get("subtopologies", {}),
        "sources": [
            {"id": node["id"], "topics": node["params"].get("topics")}
            for node in graph["nodes"]
            if node["op"] in ("stream", "table", *GLOBAL_STEPS)
        ],
        "readers": [node["node"] for node in graph["nodes"] if "reader" in node["params"]],
        "stores": stores,
        "nodes": graph["nodes"],
    }
    if state is not None:
        notes["state"], notes["changes"] = state.schema, state.changes
    return notes


def _same_readers(folder: Place, before: Notes, now: Notes) -> None:
    """Refuse different readers: Spark identifies a query's sources by their order only."""
    known, readers = before.get("readers") or [], now["readers"]
    if known != readers:
        raise MillraceError(
            "checkpoint_mismatch_readers",
            f"The checkpoint in {folder} was written by a job that read DataFrames for "
            f"{', '.join(known) or 'no node'}; this job does so for "
            f"{', '.join(readers) or 'no node'}. Start it with a new checkpoint folder.",
            facts={
                "folder": folder,
                "before": ", ".join(known) or "–",
                "now": ", ".join(readers) or "–",
            },
        )


def note_arrival(location: str, run: str) -> None:
    """Note that a run has completed a batch, so that the previous version is not restarted."""
    (folder_of(location) / ARRIVED).write_text(run, encoding="utf-8")


def copy_notes(location: str, folder: str | None) -> None:
    """Copy the notes of a checkpoint into a local folder, for a server that cannot read it there.

    Does nothing if `folder` is None.
    """
    if folder is None:
        return
    copies = Path(folder)
    copies.mkdir(parents=True, exist_ok=True)
    write_whole(copies / LOCATION, location)
    for name in (NOTES, moving.WAITING, ARRIVED):
        try:
            write_whole(copies / name, (folder_of(location) / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            (copies / name).unlink(missing_ok=True)


def location_of(folder: Path) -> str:
    """Return the checkpoint of a deployment: its folder, or the one that copied notes refer to."""
    try:
        return (folder / LOCATION).read_text(encoding="utf-8")
    except FileNotFoundError:
        return str(folder)


def _noted(file: Place) -> Notes:
    with suppress(ValueError):
        found = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(found, dict) and found.get("layout") != LAYOUT:
            raise _other_layout(file.parent, found.get("layout"))
        return read(Notes, found)
    raise MillraceError(
        "checkpoint_mismatch_notes",
        f"{file} cannot be read: it is incomplete or was written by another version. Start the "
        "job with a new checkpoint folder.",
        facts={"file": file},
    )


def _other_layout(folder: Place, layout: object) -> MillraceError:
    found = "none" if layout is None else str(layout)
    return MillraceError(
        "checkpoint_mismatch_layout",
        f"The checkpoint in {folder} has the layout {found}; this version reads the layout "
        f"{LAYOUT}. Start the job with the version that wrote the checkpoint, or with a new "
        "checkpoint folder.",
        facts={"folder": folder, "found": found, "known": LAYOUT},
    )


def _nothing_in_common(before: Notes, now: Notes) -> bool:
    """Whether a job shares no source, topic or store with the previous one.

    For a checkpoint without a state schema, only the sources are known.
    """
    old, new = before.get("sources") or [], now["sources"]
    if not (old and new) or {each["id"] for each in old} & {each["id"] for each in new}:
        return False
    known, state = before.get("state"), now.get("state")
    if known is None or state is None:
        return True
    same = {*known["topics"]} & {*state["topics"]}
    stores = ({each["id"] for each in of["stores"]} for of in (known, state))
    return not same and not set.intersection(*stores)


def _same_topology(folder: Place, before: Notes, now: Notes, *, moves: bool, ours: bool) -> None:
    if not ours and _nothing_in_common(before, now):
        old = before["sources"]
        names = ", ".join(sorted(each["id"] for each in old))
        raise MillraceError(
            "checkpoint_mismatch_topology",
            f"The checkpoint in {folder} belongs to another topology (its sources: {names}). "
            "Start the job with a different checkpoint folder.",
            facts={"folder": folder, "sources": names},
        )
    known = {each["node"]: each for each in before.get("stores") or []}
    for store in now["stores"]:
        found = known.get(store["node"])
        # If both have a state schema, kinds have already been compared.
        judged = before.get("state") is not None and "state" in now
        of_kind: list[Literal["kind", "level"]] = [] if judged else ["kind"]
        of_level: list[Literal["kind", "level"]] = [] if moves else ["level"]
        for what in (*of_kind, *of_level):
            if found is not None and found.get(what) != store[what]:
                raise MillraceError(
                    "checkpoint_mismatch_kind" if what == "kind" else "checkpoint_mismatch_level",
                    f"In the checkpoint in {folder} the store {store['name']} has the {what} "
                    f"{found.get(what)}, now {store[what]}. Start the job with a new checkpoint "
                    "folder.",
                    node=store["node"],
                    facts={
                        "folder": folder,
                        "store": store["name"],
                        "before": found.get(what),
                        "now": store[what],
                    },
                )


def _same_clock(folder: Place, before: Notes, *, real_time: bool, clock: bool) -> None:
    if before.get("clock", clock) != clock:
        mode = "in micro-batches" if real_time else "in real time"
        raise MillraceError(
            "checkpoint_mismatch_batches" if real_time else "checkpoint_mismatch_clock",
            f"The checkpoint in {folder} was written {mode}, where processors use a different "
            "wall clock. Run the job as before, or start it with a new checkpoint folder.",
            facts={"folder": folder},
        )


def open_checkpoint(
    location: str,
    graph: TaskGraph,
    shuffle_partitions: int,
    *,
    real_time: bool = False,
    clock: bool = False,
    state: StateOpening | None = None,
    move: Mover | None = None,
    begins_late: bool = False,
    beginning: Beginning | None = None,
    ours: bool = False,
) -> str:
    """Check that a checkpoint fits the job, note the job, and return the query's own location.

    Raises MillraceError `checkpoint_mismatch_…` if the checkpoint belongs to another topology and,
    without `move`, if the job would look for state in other places: the number of tasks or levels
    changed, or a store's level.
    `clock`: whether the wall clock is one of the query's sources; in real time it is not.
    `state`: the state schema of the job. If it differs from that of the checkpoint, the notes are
    replaced after the first batch (`StateOpening.done`), so that the job that wrote the checkpoint
    can continue from it until then.
    `move`: writes a new checkpoint from the notes before and now, and returns its folder's name;
    `begins_late`: see `state_moving.must_move`.
    `beginning`: a request, which is noted as applied; one that is due moves the state to other
    offsets, or begins in an empty folder (`begins_anew`).
    `ours`: the checkpoint is known to be this job's, even if its topology has been replaced.
    """
    folder = folder_of(location)
    folder.mkdir(parents=True, exist_ok=True)
    now = metadata_of(graph, shuffle_partitions, clock=clock, state=state)
    before = notes_of(location)
    if beginning is not None:
        now["begun"] = beginning.id
    if not before:
        write_notes(folder / NOTES, now)
        return stream_location(location)
    if due(beginning, before) and begins_anew(location, beginning):
        empty = moving.empty_stream(folder, before, now)
        if state is not None:
            noted_empty = moving.waiting(folder) or now
            state.waits(lambda: _note_moved(folder, noted_empty))
        return stream_location(location, empty)
    if "stream" in before:
        now["stream"] = before["stream"]
    if "kept" in before:
        now["kept"] = before["kept"]
    if "begun" in before:
        now.setdefault("begun", before["begun"])
    name = str(before.get("stream", "stream"))
    known = state is not None and "nodes" in before
    # Spark identifies the offsets of DataFrames by the order of the sources only.
    movable = move is not None and known and not (before.get("readers") or now["readers"])
    elsewhere = due(beginning, before)
    moves = movable and (elsewhere or moving.must_move(before, now, begins_late=begins_late))
    if elsewhere and not moves:
        raise MillraceError(
            "checkpoint_mismatch_offsets",
            f"The offsets of the checkpoint in {folder} cannot be changed: it was written by an "
            "old version, or by a job that reads DataFrames. Reset its stores as well, or start "
            "the job with a new checkpoint folder.",
            facts={"folder": folder},
        )
    same_clock = before.get("clock", clock) if moves else clock
    _same_clock(folder, before, real_time=real_time, clock=same_clock)
    if not moves:
        _same_places(folder, before, now)
    _same_topology(folder, before, now, moves=moves, ours=ours)
    moved = move(before, now) if moves and move is not None else name
    if moved != name and state is not None:
        noted = moving.waiting(folder) or now
        state.waits(lambda: _note_moved(folder, noted))
    elif state is not None and state.changed:
        state.waits(lambda: write_notes(folder / NOTES, now))
    else:
        write_notes(folder / NOTES, now)
    return stream_location(location, moved)


def is_gone(location: str) -> bool:
    """Whether a checkpoint lacks the offsets of the query that its notes name."""
    stream = folder_of(location) / str(notes_of(location).get("stream", "stream"))
    return moving.last_batch(stream) is None and not any(stream.glob("sources/*/0"))


def begins_anew(location: str, beginning: Beginning | None) -> bool:
    """Whether a request sets where the query begins, and the query starts without a checkpoint.

    Either the request discards the rows of the checkpoint, or there are none to carry over.
    """
    if beginning is None:
        return False
    notes = notes_of(location)
    stream = folder_of(location) / str(notes.get("stream", "stream"))
    if due(beginning, notes):
        return beginning.reset or moving.last_batch(stream) is None
    return not any(stream.glob("sources/*/0")) and not (stream / "offsets" / "0").exists()


def _same_places(folder: Place, before: Notes, now: Notes) -> None:
    for what in _PLACES:
        if before.get(what) != now[what]:
            raise MillraceError(
                "checkpoint_mismatch_tasks" if what == "tasks" else "checkpoint_mismatch_levels",
                f"The checkpoint in {folder} was written by a job with {before.get(what)} "
                f"{what}; this job has {now[what]}. Start it with a new checkpoint folder.",
                facts={"folder": folder, "before": before.get(what), "now": now[what]},
            )
    _same_readers(folder, before, now)
