"""A job's checkpoint folder: Spark's own, and what the job was when it was written."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from millrace_runtime.errors import MillraceError

# 1: micro-batches of output mode append, without real time. 2: either trigger may go on with it.
LAYOUT = 2


def is_local(location: str) -> bool:
    """Whether a checkpoint location is a folder of this machine."""
    return "://" not in location or location.startswith("file://")


def local_path(location: str) -> Path:
    """The folder of a local checkpoint location."""
    return Path(location.removeprefix("file://"))


def stream_location(location: str) -> str:
    """Where Spark keeps the streaming query's own checkpoint."""
    return f"{location.rstrip('/')}/stream"


def layout_of(location: str) -> int:
    """How a checkpoint was written; that of a new one is the latest."""
    file = local_path(location) / "stores.json"
    if not is_local(location) or not file.exists():
        return LAYOUT
    found = _noted(file).get("layout")
    return found if isinstance(found, int) else LAYOUT


def metadata_of(
    graph: dict[str, Any], shuffle_partitions: int, *, clock: bool = False
) -> dict[str, Any]:
    """What must stay as it is for a checkpoint to fit: levels, tasks, stores by their identity."""
    stores: list[dict[str, Any]] = []
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
    return {
        "layout": LAYOUT,
        "tasks": shuffle_partitions,
        "clock": clock,
        "levels": levels,
        "sources": [
            {"id": node["id"], "topics": node["params"].get("topics")}
            for node in graph["nodes"]
            if node["op"] in ("stream", "table", "global_table")
        ],
        "stores": stores,
        "nodes": graph["nodes"],
    }


def _noted(file: Path) -> dict[str, Any]:
    try:
        before = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(before, dict):
            return before
    except ValueError:
        pass
    raise MillraceError(
        "checkpoint_mismatch",
        f"{file} cannot be read: it was not written by this version, or not wholly. "
        "Start the job with a new checkpoint folder.",
    )


def _same_topology(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    old, new = before.get("sources") or [], now["sources"]
    if old and new and not {each["id"] for each in old} & {each["id"] for each in new}:
        names = ", ".join(sorted(each["id"] for each in old))
        raise MillraceError(
            "checkpoint_mismatch",
            f"The checkpoint in {folder} is that of another topology (its sources: {names}). "
            "Start the job with a checkpoint folder of its own.",
        )
    known = {(each["node"], each["name"]): each for each in before.get("stores") or []}
    for store in now["stores"]:
        found = known.get((store["node"], store["name"]))
        for what in ("kind", "level"):
            if found is not None and found.get(what) != store[what]:
                raise MillraceError(
                    "checkpoint_mismatch",
                    f"In the checkpoint in {folder} the store {store['name']} has the {what} "
                    f"{found.get(what)}, now {store[what]}. Start the job with a new checkpoint "
                    "folder.",
                    node=store["node"],
                )


def _same_trigger(folder: Path, before: dict[str, Any], *, real_time: bool, clock: bool) -> None:
    layout = before.get("layout")
    if layout not in (1, LAYOUT):
        raise MillraceError(
            "checkpoint_mismatch",
            f"The checkpoint in {folder} was written with the layout {layout}, this version knows "
            f"{LAYOUT}. Start the job with a new checkpoint folder.",
        )
    if real_time and layout == 1:
        raise MillraceError(
            "checkpoint_mismatch",
            f"The checkpoint in {folder} was written before there was real time. Run the job in "
            "micro-batches, or start it with a new checkpoint folder.",
        )
    if before.get("clock", clock) != clock:
        mode = "in micro-batches" if real_time else "in real time"
        raise MillraceError(
            "checkpoint_mismatch",
            f"The checkpoint in {folder} was written {mode}, where processors have another wall "
            "clock. Run the job as before, or start it with a new checkpoint folder.",
        )


def open_checkpoint(
    location: str,
    graph: dict[str, Any],
    shuffle_partitions: int,
    *,
    real_time: bool = False,
    clock: bool = False,
) -> None:
    """Check that a checkpoint fits the job, and note what the job is.

    Raises MillraceError `checkpoint_mismatch` when the number of tasks or levels changed, for
    which the state of the old checkpoint lies in other places than the new job would look; when
    a store changed its kind or level; and when the checkpoint is that of another topology.
    `clock`: whether the wall clock is one of the query's sources; in real time it is none.
    Only local folders are checked; elsewhere Spark's own checks speak.
    """
    if not is_local(location):
        return
    folder = local_path(location)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "stores.json"
    now = metadata_of(graph, shuffle_partitions, clock=clock)
    if file.exists():
        before = _noted(file)
        now["layout"] = before.get("layout")
        _same_trigger(folder, before, real_time=real_time, clock=clock)
        for what in ("tasks", "levels"):
            if before.get(what) != now[what]:
                raise MillraceError(
                    "checkpoint_mismatch",
                    f"The checkpoint in {folder} was written by a job with {before.get(what)} "
                    f"{what}, this one has {now[what]}. Start it with a new checkpoint folder.",
                )
        _same_topology(folder, before, now)
    with tempfile.NamedTemporaryFile(
        "w", dir=folder, delete=False, encoding="utf-8", suffix=".json"
    ) as partial:
        json.dump(now, partial, indent=1)
    Path(partial.name).replace(file)
