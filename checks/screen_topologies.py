"""The topologies that pictures of screens show, made by the API where a workspace lacks them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

NAME = "Screens"
THINGS = (
    "Orders", "Refunds", "Payments", "Shipments", "Visits",
    "Invoices", "Returns", "Baskets", "Reviews", "Coupons",
)  # fmt: skip
TOPOLOGIES = "/api/workspaces/main/topologies"


@dataclass(frozen=True)
class Topologies:
    """Ids of topologies."""

    #: with nodes; its deployment runs, if there is such a one
    t: int
    empty: int
    #: of eighty nodes
    large: int
    #: with a fragment, parameters, pinned records, a muted node and a note
    parts: int
    #: whose deployment has failed, if there is one
    failed: int | None


def the_topologies(page: Page) -> Topologies:
    """Return topologies of the workspace, and make those that it lacks."""
    found = _api(page, "GET", TOPOLOGIES)["results"]
    made = {each["name"]: int(each["id"]) for each in found if each["name"].startswith(NAME)}

    def make(name: str, document: dict[str, Any]) -> int:
        body = {"name": name, "document": {**document, "name": name}}
        return made.get(name) or int(_api(page, "POST", TOPOLOGIES, body)["id"])

    def observed(each: dict[str, Any]) -> str | None:
        state = (each["deployment"] or {}).get("observed")
        return None if state is None else str(state)

    full = [each for each in found if each["node_count"] > 2 and each["id"] not in made.values()]
    running = [each for each in full if observed(each) == "running"]
    failed = [each for each in found if observed(each) == "failed"]
    template = _api(page, "GET", "/api/templates")[0]["document"]
    first = int((running or full)[0]["id"]) if full else make(NAME, template)
    empty = {"format": template["format"], "nodes": [], "edges": []}
    return Topologies(
        t=first,
        empty=make(f"{NAME}, empty", empty),
        large=make(f"{NAME}, large", _large()),
        parts=make(f"{NAME}, parts", _parts()),
        failed=int(failed[0]["id"]) if failed else None,
    )


def _large() -> dict[str, Any]:
    """Return a document of ten lanes with eight nodes each."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, str]] = []
    groups: list[dict[str, Any]] = []
    for lane, thing in enumerate(THINGS):
        parts: list[tuple[str, str, dict[str, Any]]] = [
            ("source.stream", f"{thing} received", {
                "topics": [f"{thing.lower()}-received"], "key": {"format": "string"},
                "value": {"format": "json", "schema": "country STRING, amount DOUBLE, at BIGINT"},
            }),
            ("filter", "With an amount", {"predicate": "value.amount > 0"}),
            ("map_values", "Rounded", {
                "value": "named_struct('country', value.country, 'amount', round(value.amount, 2))"
            }),
            ("count", "Number per country", {
                "group_by": {"key": "value.country"},
                "window": {"type": "tumbling", "size": "1 hour", "grace": "10 minutes"},
            }),
            ("to_stream", "Updates", {}),
            ("map", "One row per country and hour", {
                "key": "key.key",
                "value": "named_struct('country', key.key, 'hour', key.window.start, 'n', value)",
            }),
            ("filter", "More than one", {"predicate": "value.n > 1"}),
            ("sink.topic", f"{thing} per hour", {"topic": f"{thing.lower()}-per-hour"}),
        ]  # fmt: skip
        ids = [f"{thing.lower()}_{number}" for number in range(len(parts))]
        for number, (kind, label, params) in enumerate(parts):
            position = {"x": 280 * number, "y": 140 * lane}
            node = {"id": ids[number], "kind": kind, "label": label, "params": params}
            nodes.append({**node, "position": position})
        edges += [{"source": one, "target": two} for one, two in itertools.pairwise(ids)]
        if lane % 3 == 0:
            groups.append({"id": f"g{lane}", "title": f"{thing}, cleaned", "nodes": ids[1:3]})
    drawing = {"groups": groups}
    return {"format": "millrace.topology/1", "nodes": nodes, "edges": edges, "drawing": drawing}


def _parts() -> dict[str, Any]:
    """Return a document with a fragment, parameters, pinned records, a muted node and a note."""
    text = {"format": "string"}
    fragment = {
        "nodes": [
            {"id": "in", "kind": "fragment.input", "params": {"role": "stream", "key": "STRING"}},
            {"id": "keep", "kind": "filter", "label": "Long enough",
             "params": {"predicate": "length(value) > ${shortest}"}},
            {"id": "count", "kind": "count", "label": "Number per key", "params": {}},
            {"id": "out", "kind": "fragment.output", "params": {}},
        ],
        "edges": [{"source": "in", "target": "keep"}, {"source": "keep", "target": "count"},
                  {"source": "count", "target": "out"}],
        "parameters": {"shortest": {"type": "number", "default": 3}},
    }  # fmt: skip
    nodes = [
        {"id": "visits", "kind": "source.stream", "label": "Visits",
         "params": {"topics": ["${visits}"], "key": text, "value": text}},
        {"id": "trimmed", "kind": "map_values", "label": "Trimmed",
         "params": {"value": "trim(value)"}},
        {"id": "counted", "kind": "fragment", "label": "Counted",
         "params": {"fragment": "Counted@1", "arguments": {"shortest": 5}}},
        {"id": "out", "kind": "sink.topic", "label": "Counts",
         "params": {"topic": "visits-per-key"}},
    ]  # fmt: skip
    for number, node in enumerate(nodes):
        node["position"] = {"x": 280 * number, "y": 0}
    record = {"key": "ada", "value": "/orders/new", "timestamp": 1_767_632_400_000}
    return {
        "format": "millrace.topology/1",
        "nodes": nodes,
        "edges": [
            {"source": one["id"], "target": two["id"]} for one, two in itertools.pairwise(nodes)
        ],
        "fragments": {"Counted@1": fragment},
        "parameters": {
            "visits": {"type": "topic", "default": "visits", "values": {"prod": "visits-prod"},
                       "description": "Where pages report visits"},
            "limit": {"type": "number", "default": 10, "values": {"dev": 1, "prod": 100}},
        },
        "drawing": {
            "notes": [{"id": "why", "text": "**Why** visits?", "position": {"x": 0, "y": -140}}],
            "pins": [{"source": "visits", "target": "trimmed", "records": [record]}],
            "muted": ["trimmed"],
        },
    }  # fmt: skip


def _api(page: Page, method: str, path: str, body: Any = None) -> Any:
    """Call the API with the session of the page."""
    script = """async ([method, path, body]) => {
        const token = /csrftoken=([^;]+)/.exec(document.cookie)?.[1] ?? "";
        const headers = { "Content-Type": "application/json", "X-CSRFToken": token };
        const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
        if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
        return answer.json();
    }"""
    return page.evaluate(script, [method, path, body])
