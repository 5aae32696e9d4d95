"""The stores of a deployment, and their rows as of the last committed batch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from accounts.models import User
from millrace_backend.errors import Conflict, NotFound
from millrace_model.notes import Notes
from millrace_model.reading import Moment
from millrace_model.state import StoreSchema, Windows
from millrace_services import local_services
from topologies import simulating

from deployments.models import Deployment
from deployments.plain_dialect import refuse_plain
from deployments.snapshots import stores_socket
from deployments.state_plan import checkpoint_notes, last_figures

#: maximum number of rows on a page
MOST_ROWS = 1_000
#: how long a driver may take for a page; it gives up after a second itself
DRIVER_SECONDS = 3.0
#: maximum number of characters of a key or value on a page
SHOWN = 20_000


class ListedStore(TypedDict):
    """A store that can be queried."""

    id: Annotated[str, "Id of the store node, or of the operator that owns the store."]
    name: str
    kind: Annotated[str, "key_value, window, session or versioned"]
    key: Annotated[str, "Spark SQL type of the keys."]
    values: Annotated[list[str], "Types of the values."]
    windows: Annotated[Windows | None, "Type, size, advance or gap in ms."]
    rows: Annotated[int | None, "As last reported by the driver; null if unknown."]


class StoreList(TypedDict):
    """The stores of a deployment; none before its first start."""

    stores: list[ListedStore]
    as_of: Annotated[Moment | None, "When `rows` was reported."]


class ShownPart(TypedDict):
    """A key or value: STRING as plain text, all other types as JSON."""

    text: Annotated[str | None, "Null for a deleted version."]
    size: Annotated[int, "Size of the whole text in bytes."]
    cut: Annotated[bool, "Whether the text is truncated."]


class StoreAnswer(TypedDict):
    """A page of a store, or that the process which reads it is starting."""

    state: str
    page: Any


def list_stores(row: Deployment) -> StoreList:
    """Return the stores that can be queried, with types and their last reported rows.

    Empty before the deployment's first start.
    """
    from millrace_compiler.state.state_changes import type_text

    refuse_plain(row, "show its state")
    run = row.runs.first()
    figures = None if run is None else last_figures(row, run.report_id)
    sizes = {} if figures is None else figures.stores
    return {
        "stores": [
            {
                "id": store["id"],
                "name": store["name"],
                "kind": store["kind"],
                "key": type_text(store["key"]),
                "values": [type_text(type_) for type_ in store["values"].values()],
                "windows": store["windows"],
                "rows": sizes.get(store["id"], (None, None))[0],
            }
            for store in _queryable(checkpoint_notes(row))
        ],
        "as_of": None if figures is None else figures.as_of,
    }


def _queryable(notes: Notes | None) -> list[StoreSchema]:
    from millrace_compiler.state.state_schema import QUERYABLE

    state = None if notes is None else notes.get("state")
    stores = [] if state is None else state["stores"]
    return [store for store in stores if store["kind"] in QUERYABLE]


def read_store(
    row: Deployment, store: str, query: Mapping[str, object], person: User
) -> StoreAnswer:
    """Return a page of a store's rows; `state` is `starting` while the reading process starts.

    `query`: as in `StateQuery` of the runtime. Raises NotFound for an unknown store, Conflict if
    there is no state yet or it cannot be read, ApiError for an invalid key or query, Unavailable if
    the simulator does not respond.
    """
    refuse_plain(row, "show its state")
    notes = checkpoint_notes(row)
    known = _queryable(notes)
    if notes is None:
        raise Conflict(
            "no_state_yet",
            "The deployment has no state yet.",
            "Its stores can be read after its first batch.",
        )
    if not any(store in (each["id"], each["name"]) for each in known):
        names = ", ".join(sorted(each["name"] for each in known)) or "none"
        raise NotFound(
            "no_such_store",
            f"The deployment has no store {store[:100]}.",
            f"It has: {names}.",
        )
    answer = _of_driver(row, store, query)
    if answer is None:
        answer = simulating.ask(
            {
                "do": "read_state",
                # Not the owner of simulations: canceling these must not affect reading.
                "owner": f"stores of person {person.pk}",
                "checkpoint": row.state_location or str(row.directory / "checkpoint"),
                "store": store,
                "query": query,
            },
            reader=True,
        )
    if answer.get("state") == "starting":
        return {"state": "starting", "page": None}
    rows = [{**each, "key": _part(each["key"]), "value": _part(each["value"])}
            for each in answer["rows"]]  # fmt: skip
    return {"state": "done", "page": {**answer, "rows": rows}}


def _of_driver(row: Deployment, store: str, query: Mapping[str, object]) -> Any:
    """Return the page from the driver that runs; None if it has none and the checkpoint is read.

    Raises ApiError for an invalid key or query.
    """
    asked = {"do": "read_state", "store": store, "query": query}
    try:
        answer = local_services.ask(str(stores_socket(row.directory)), asked, DRIVER_SECONDS)
    except (OSError, ValueError):
        return None
    if answer.get("error"):
        raise simulating.refusal(answer["error"])
    return answer.get("page")


def _part(text: str | None) -> ShownPart:
    """Return a key or value for display: text as it is, everything else as JSON."""
    if text is None:
        return {"text": None, "size": 0, "cut": False}
    shown = str(json.loads(text)) if text.startswith('"') else text
    return {
        "text": shown[:SHOWN],
        "size": len(shown.encode("utf-8", "replace")),
        "cut": len(shown) > SHOWN,
    }
