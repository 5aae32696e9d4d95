"""`state`: print the rows of a store, read from a checkpoint."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from millrace_model.reads import StatePage, StateRow
from millrace_runtime.checkpoint import checkpoint, storage
from millrace_runtime.errors import MillraceError
from millrace_runtime.session.simulation import simulation_session
from millrace_runtime.stores.reading import StateQuery, read_state, stores_of
from pyspark.sql import SparkSession

from launcher import places


def state_command(arguments: argparse.Namespace) -> int:
    """Print the stores of a checkpoint, or a page of one. Exit code 2 if it cannot be read."""
    folder = _folder(arguments.checkpoint)
    if arguments.store is None and storage.is_local(folder):
        _list(folder, as_json=arguments.json)
        return 0
    _query(arguments).to_json()  # invalid arguments are reported before Spark starts
    spark = simulation_session(storage="" if storage.is_local(folder) else folder)
    try:
        if arguments.store is None:
            _list(folder, as_json=arguments.json)
        else:
            show(spark, arguments)
    finally:
        spark.stop()
    return 0


def show(spark: SparkSession, arguments: argparse.Namespace) -> None:
    """Print a page of a store."""
    page = read_state(spark, _folder(arguments.checkpoint), arguments.store, _query(arguments))
    if arguments.json:
        print(json.dumps({**page, "rows": [_values(row) for row in page["rows"]]}, indent=2,
                         ensure_ascii=False))  # fmt: skip
    else:
        _print(page)


def _folder(given: str) -> str:
    """Return the checkpoint of a deployment by its number, or the folder or URI unchanged."""
    if given.isdecimal() and not Path(given).exists():
        return checkpoint.location_of(places.data() / "deployments" / given / "checkpoint")
    return given


def _list(folder: str, *, as_json: bool) -> None:
    notes = checkpoint.notes_of(folder)
    if not notes:
        raise MillraceError(
            "state_unreadable", f"{folder} does not contain a checkpoint of a Millrace job."
        )
    stores = stores_of(notes)
    if as_json:
        print(json.dumps(stores, ensure_ascii=False, indent=2))
        return
    for store in stores:
        name = "" if store["name"] == store["id"] else f"  {store['name']}"
        print(f"{store['id']}{name}  {store['kind']}")


def _query(arguments: argparse.Namespace) -> StateQuery:
    return StateQuery(
        key=arguments.key,
        start=arguments.start,
        end=arguments.end,
        prefix=arguments.prefix,
        from_time=_time(arguments.from_time),
        to_time=_time(arguments.to_time),
        as_of=_time(arguments.as_of),
        versions=arguments.versions,
        newest=arguments.newest,
        after=arguments.after,
        limit=arguments.limit,
    )


def _time(text: str | None) -> int | None:
    """Convert milliseconds or ISO 8601 to milliseconds. Raises MillraceError `query_invalid`."""
    if text is None:
        return None
    if text.isdecimal():
        return int(text)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise MillraceError(
            "query_invalid",
            "A time must be in milliseconds or ISO 8601, such as 2026-01-31T12:00:00Z, found "
            f"{text!r}.",
        ) from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def _values(row: StateRow) -> dict[str, object]:
    value = row["value"]
    return {
        **row,
        "key": json.loads(row["key"]),
        "value": None if value is None else json.loads(value),
    }


def _print(page: StatePage) -> None:
    """Print rows to standard output, separated by tabs, and their batch and times to stderr."""
    times = ", ".join(f"{each['task']} {_iso(each['stream_time'])}" for each in page["tasks"])
    print(
        f"{page['store']['name']} as of batch {page['batch']}, {_iso(page['committed_at'])}"
        + (f". Stream time: {times}" if times else ""),
        file=sys.stderr,
    )
    for row in page["rows"]:
        window = row.get("window")
        parts = [row["key"]]
        if window is not None:
            end = window["end"]
            parts.append(f"{_iso(window['start'])}/{'' if end is None else _iso(end)}")
        parts.append("null" if row["value"] is None else row["value"])
        if row["timestamp"] is not None:
            parts.append(_iso(row["timestamp"]))
        print("\t".join(parts))
    if page["next"] is not None:
        print(f"More rows follow: --after {page['next']}", file=sys.stderr)


def _iso(at: int | None) -> str:
    if at is None:
        return "unknown"
    try:
        text = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return str(at)
    return text.replace("+00:00", "Z")
