"""Queries of stores in a job's checkpoint, which Kafka Streams calls interactive queries.

A page is from the last committed batch and thus consistent. The job that writes the checkpoint is
not involved and does not wait; the folder is only read. The notes in the checkpoint contain the
stores, their types and the operators that lay out their rows.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from millrace_compiler.declarations.steps import GLOBAL_STEPS, PYTHON_STEPS
from millrace_compiler.parameters.windows import Window
from millrace_compiler.state.state_schema import QUERYABLE
from millrace_model.graphs import GraphNode, GraphStore
from millrace_model.notes import Notes
from millrace_model.reads import RowsOfPage, StatePage
from millrace_model.state import StoreSchema, Windows

from millrace_runtime import columns
from millrace_runtime.checkpoint import checkpoint, storage
from millrace_runtime.checkpoint.moving import last_batch, operators
from millrace_runtime.checkpoint.storage import Place
from millrace_runtime.errors import MillraceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Maximum number of rows of a page.
MOST = 1_000
#: code of the error if files of the state cannot be read
UNREADABLE = "state_unreadable"
_AGGREGATIONS = ("count", "reduce", "aggregate", "cogroup")
#: Steps of an operator that do not keep its result.
_NO_TABLES = (
    "repartition", "repartitioned", "group_by", "grouped_table", "foreign_key_subscribe",
    "foreign_key_lookup",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class StateQuery:
    """Which rows of a store to read; by default the first ones.

    Keys are text: unchanged if keys are STRING, else JSON. `start`, `end`: first and last key of a
    range; `prefix`: of keys of the type STRING. `from_time`, `to_time`: windows, sessions or
    versions that begin in this range, in ms. For versioned stores: `as_of`, a time in ms, and
    `versions`: all versions of a key instead of only the latest. `newest`: order by time, latest
    first, instead of by key. `after`: the `next` of the previous page.
    """

    key: str | None = None
    start: str | None = None
    end: str | None = None
    prefix: str | None = None
    from_time: int | None = None
    to_time: int | None = None
    as_of: int | None = None
    versions: bool = False
    newest: bool = False
    after: str | None = None
    limit: int = 100

    def to_json(self) -> dict[str, object]:
        """Return the form that the operator reads. Raises MillraceError `query_invalid`."""
        if not 1 <= self.limit <= MOST:
            raise MillraceError(
                "query_invalid",
                f"A page can have 1 to {MOST} rows, but {self.limit} were requested.",
            )
        fields = dataclasses.asdict(self)
        return {**fields, "from": fields.pop("start"), "to": fields.pop("end")}


def stores_of(notes: Notes) -> list[StoreSchema]:
    """Return the state schemas of the stores in a checkpoint's notes that can be queried."""
    state = notes.get("state")
    stores = [] if state is None else state["stores"]
    return [store for store in stores if store["kind"] in QUERYABLE]


def read_state(spark: SparkSession, location: str, store: str, query: StateQuery) -> StatePage:
    """Return a page of a store, identified by id or name, from the checkpoint in a folder.

    `{"store": {"id", "name", "kind"}, "batch", "committed_at" (ms), "tasks": [{"task",
    "stream_time"}], "rows": [{"key", "value", "timestamp", "task", and by kind "window" {"start",
    "end"} or "valid_from"}], "next"}`, all times in ms. Keys and values are JSON as text, which
    keeps all digits; a deleted version's value is None. `next` is None on the last page. A page of
    a versioned store may have fewer rows than `limit` although others follow: deleted keys have
    none.

    Raises MillraceError `state_unreadable` if the folder has no checkpoint of this version,
    `no_state_yet` before the first batch, `no_such_store`, `key_invalid` and `query_invalid`.
    """
    for attempt in (1, 2):
        try:
            page = committed_page(
                location,
                store,
                query,
                lambda commit, asked: _from_checkpoint(spark, location, commit, asked),
            )
        except (MillraceError, OSError) as error:
            # Spark deletes the files of a batch after a hundred others: retry with a newer one.
            if attempt == 2 or (isinstance(error, MillraceError) and error.code != UNREADABLE):
                raise
            continue
        if page is not None:
            return page
    raise AssertionError("not reached")


def committed_page(
    location: str,
    store: str,
    query: StateQuery,
    read: Callable[[Place, dict[str, object]], str | None],
) -> StatePage | None:
    """Return a page of a store, as of the last committed batch, from what `read` returns for it.

    `read` gets the batch's commit and a request to the operator (StateReading.scala), and returns
    the operator's answer, or None.
    """
    folder, notes = folder_with_notes(location)
    schema = _find(notes, store)
    stream = folder / str(notes.get("stream", "stream"))
    batch = last_batch(stream)
    if batch is None:
        raise MillraceError(
            "no_state_yet",
            f"The job has not committed a batch yet, so {folder} contains no state. Try "
            "again after the first batch.",
        )
    asked = {
        "path": stream.absolute().as_uri(),
        "batch": batch,
        **_place(notes, schema),
        "changes": [change.get("drop", []) for change in notes.get("changes") or []],
        "query": query.to_json(),
    }
    commit = stream / "commits" / str(batch)
    committed = storage.modified(commit)
    rows: RowsOfPage | None = answered(lambda: read(commit, asked))
    if rows is None:
        return None
    return {
        "store": {
            "id": schema["id"],
            "name": schema["name"],
            "kind": schema["kind"],
        },
        "batch": batch,
        "committed_at": int(committed * 1000),
        **rows,
    }


def _from_checkpoint(
    spark: SparkSession, location: str, commit: Place, asked: Mapping[str, object]
) -> str:
    session = session_for(spark, location, commit)
    found: str = columns.gateway().StateReading.read(session._jsparkSession, json.dumps(asked))
    return found


def folder_with_notes(location: str) -> tuple[Place, Notes]:
    """Return a checkpoint and its notes.

    Raises MillraceError `no_state_yet` or `state_unreadable`.
    """
    try:
        storage.require_reachable(location)
    except MillraceError as error:
        raise MillraceError("state_unreadable", str(error), cause=error) from None
    folder = storage.folder_of(location)
    file = folder / checkpoint.NOTES
    if not file.is_file():
        raise MillraceError(
            "no_state_yet" if not folder.exists() else "state_unreadable",
            f"{folder} does not contain a checkpoint of a Millrace job.",
        )
    if isinstance(file, Path):
        found = file.stat()
        return folder, _notes(str(folder), (found.st_ino, found.st_mtime_ns, found.st_size))
    return folder, checkpoint.notes_of(str(folder))


@lru_cache(maxsize=4)
def _notes(folder: str, _file: tuple[int, int, int]) -> Notes:
    """Return the notes in this file, which is replaced when they change."""
    return checkpoint.notes_of(folder)


def _find(notes: Notes, store: str) -> StoreSchema:
    if "state" not in notes or "nodes" not in notes:
        raise MillraceError(
            "state_unreadable",
            "The checkpoint was written by an older version, without the types of its stores. "
            "Start the job once with this version.",
        )
    known = stores_of(notes)
    found = [each for each in known if each["id"] == store]
    found = found or [each for each in known if each["name"] == store]
    if not found:
        names = ", ".join(sorted(each["name"] for each in known)) or "none"
        raise MillraceError(
            "no_such_store",
            f"The checkpoint has no store {store} that can be read. Available stores: {names}.",
        )
    return found[0]


def session_for(spark: SparkSession, location: str, commit: Place) -> SparkSession:
    """Return a session that reads a checkpoint's state in the format that the commit records.

    Raises OSError if the commit was deleted meanwhile.
    """
    version = "2" if '"stateUniqueIds":{"' in commit.read_text(encoding="utf-8") else "1"
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", version)
    for name, value in storage.spark_settings(location).items():
        session.conf.set(name, value)
    return session


def asked_of(reader: str, spark: SparkSession, asked: Mapping[str, object]) -> Any:
    """Return what an object of the operator reads from a checkpoint. Raises MillraceError."""
    read = getattr(columns.gateway(), reader).read
    return answered(lambda: read(spark._jsparkSession, json.dumps(asked)))


def answered(read: Callable[[], str | None]) -> Any:
    """Return what the operator answers, JSON or None. Raises MillraceError."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        answer = read()
    except Py4JJavaError as error:
        java = error.java_exception
        if java.getClass().getSimpleName() == "Refused":
            why = json.loads(java.why().json())
            message = f"{why['message'][:1].upper()}{why['message'][1:]}."
            raise MillraceError(why["code"], message, facts=why["facts"]) from None
        while java.getCause() is not None:
            java = java.getCause()
        raise _unreadable(str(java)) from None
    except PySparkException as error:
        raise _unreadable(str(error)) from None
    return None if answer is None else json.loads(answer)


def _unreadable(cause: str) -> MillraceError:
    return MillraceError(
        UNREADABLE,
        f"Spark cannot read the state in the checkpoint: {cause.strip().splitlines()[0][:300]}",
    )


# -- location and layout of a store's rows -----------------------------------------------------


def _place(notes: Notes, schema: StoreSchema) -> dict[str, object]:
    """Return operator, sub-topology and row layout of a store."""
    node, store = _owner(notes, schema)
    levels = sorted(operators(notes["nodes"]))
    rows = node["id"]
    if store is not None:
        rows = store.get("state") or schema["id"]
    return {
        # Spark numbers the operators of a plan from its end.
        "operator": len(levels) - 1 - levels.index(node["level"]),
        "sub": node.get("sub", 0),
        "store": {
            "rows": rows,
            "key": schema["key"],
            "everywhere": node["op"] in GLOBAL_STEPS,
            **_layout(node, store or {}, schema),
        },
    }


def _owner(notes: Notes, schema: StoreSchema) -> tuple[GraphNode, GraphStore | None]:
    """Return the step that keeps a store, and the store if the document has a node for it."""
    unnamed: GraphNode | None = None
    for node in notes["nodes"]:
        params = node["params"]
        own = params.get("store")
        for store in [*([own] if own else []), *params.get("stores", [])]:
            if store["node"] == schema["id"]:
                return node, store
        if node.get("node", node["id"]) == schema["id"] and node["op"] not in _NO_TABLES:
            unnamed = node
    if unnamed is None:
        raise MillraceError("no_such_store", f"The job no longer has the store {schema['name']}.")
    return unnamed, None


def _layout(node: GraphNode, store: GraphStore, schema: StoreSchema) -> dict[str, object]:
    """Return how the operator lays out a store's rows (`StoreLayout` in StateReading.scala)."""
    kind = schema["kind"]
    retention = store.get("retention")
    if kind == "versioned":
        return {"kind": "versioned", "retention": store.get("history_retention") or 0}
    if node["op"] in PYTHON_STEPS:
        if kind == "key_value":
            return {"kind": "table", "timed": False}
        if kind == "session":
            return {"kind": "session", "retention": retention or 0, "timed": False}
        return {
            "kind": "key_first",
            "retention": retention or 0,
            "size": store.get("window_size") or 0,
            "duplicates": bool(store.get("retain_duplicates")),
            "timed": False,
        }
    window = node["params"].get("window")
    if node["op"] in _AGGREGATIONS and window is not None:
        return _windowed(node, store, window)
    windows = schema["windows"]
    if windows is None:
        return {"kind": "table"}
    return {"kind": "table", "window": windows["type"], **_bounds(windows)}


def _windowed(node: GraphNode, store: GraphStore, window: Windows) -> dict[str, object]:
    type_ = window["type"]
    retention = store.get("retention")
    if retention is None and type_ != "unlimited":
        retention = Window.of(cast(Mapping[str, int | str | None], window)).reach
    if type_ == "session":
        return {"kind": "session", "retention": retention, "timed": False}
    # Persistent stores of windows that are emitted on close show one millisecond more.
    by_time = node["params"].get("emit") == "window_close" and store.get("persistent", True)
    return {
        "kind": "key_first" if type_ == "sliding" else "time_first",
        "retention": retention,
        "slack": 0 if by_time else 1,
        **_bounds(window),
    }


def _bounds(window: Windows) -> dict[str, object]:
    """Return the size of windows in ms, None if they have no end, or the windows themselves."""
    if window["type"] in ("tumbling", "hopping"):
        return {"windows": dict(window)}
    found = window.get("difference") if window["type"] == "sliding" else None
    return {"size": None if found is None else int(found)}
