"""Answers of the server that are prepared for pictures of screens."""

from __future__ import annotations

from typing import Any

REFUSED = {"error": {"code": "invalid", "message": "The server refused this request."}}
#: a schedule whose last time had no effect
MISSED: dict[str, Any] = {
    "times": [{"days": [1, 2, 3, 4, 5], "start": "08:00", "stop": "18:00"}],
    "zone": "Europe/Berlin", "set_by": "Ada", "next_at": "2035-01-05T17:00:00Z",
    "next_action": "stop", "deviates": True, "last_at": "2026-01-05T17:00:00Z",
    "last_action": "stop",
    "failure": {
        "code": "schedule_without_author",
        "message": "The account that set the schedule was deleted.",
        "hint": "Set the schedule again.", "facts": {},
    },
}  # fmt: skip
#: an answer of a search for a difference
DIFFERENCE: dict[str, Any] = {
    "line": "**Different results**", "inputs": 12_431, "seconds": 20.0, "nodes": 12,
    "branches": 31, "covered": 30, "missed": {"old": ["Late orders"], "new": ["Late orders"]},
    "only_old": [], "only_new": ["alarms"],
}  # fmt: skip
_HOUR = {"key": "books", "window": {"start": 0, "end": 3_600_000}}
FOUND: dict[str, Any] = {
    "inputs": [
        {"topic": "orders", "key": "a", "timestamp": 0,
         "value": {"item": "books", "quantity": 3, "amount": 29.95, "country": "CH"}},
        {"advance_wall_clock": 60_000},
        {"topic": "orders", "key": "a", "timestamp": 3_600_000, "value": None},
    ],
    "topics": ["orders-per-hour"],
    "old": [
        {"after": 1, "topic": "orders-per-hour", "key": _HOUR, "value": 3, "timestamp": 0},
    ],
    "new": [
        {"after": 1, "topic": "orders-per-hour", "key": _HOUR, "value": 1, "timestamp": 0},
    ],
    "old_stopped": 3,
    "new_stopped": None,
}  # fmt: skip
#: a version that somebody else saved
THEIRS: dict[str, Any] = {
    "number": 2, "hash": "", "commit": None, "message": "All sources", "name": None,
    "author": "Grace Hopper", "author_id": 2, "approved_by": [],
    "created_at": "2026-01-05T17:00:00Z",
}  # fmt: skip
_RULE: dict[str, Any] = {
    "id": 1, "name": "Behind", "topology": None, "topology_name": None, "condition": "lag",
    "threshold": 1_000, "for_seconds": 300, "webhook": "https://example.org/hook",
    "mail": ["ops@example.org"], "enabled": True, "updated_by": "Ada",
    "updated_at": "2026-01-05T17:00:00Z",
}  # fmt: skip
_ALERT: dict[str, Any] = {
    "id": 1, "rule": 1, "name": "Behind", "condition": "lag", "threshold": 1_000, "deployment": 1,
    "topology": 1, "topology_name": "Purchases per hour", "environment": "prod",
    "state": "firing", "value": 2_500, "since": "2026-01-05T17:00:00Z",
    "fired_at": "2026-01-05T17:05:00Z", "resolved_at": None,
    "deliveries": [
        {"event": "fired", "channel": "webhook", "target": "https://example.org/hook",
         "state": "sent", "attempts": 1, "error": ""},
        {"event": "fired", "channel": "mail", "target": "ops@example.org",
         "state": "failed", "attempts": 4, "error": "no such mailbox"},
    ],
}  # fmt: skip


def _page(*rows: Any) -> dict[str, Any]:
    return {"count": len(rows), "next": None, "previous": None, "results": rows}


#: by the end of a path: alerts that fire, and their rules
ALERTS: dict[str, Any] = {
    "/alerts": _page(
        _ALERT,
        {**_ALERT, "id": 2, "name": "Quiet", "condition": "silence", "threshold": 60, "value": 75,
         "topology_name": "Page views by region", "environment": None, "deliveries": []},
        {**_ALERT, "id": 3, "name": "Down", "condition": "failed", "threshold": None,
         "value": None, "topology_name": "Fraud by session", "deliveries": []},
    ),
    "/alert-rules": _page(
        _RULE,
        {**_RULE, "id": 2, "name": "Quiet", "condition": "silence", "threshold": 60,
         "topology": 1, "topology_name": "Page views by region", "webhook": "", "mail": []},
        {**_RULE, "id": 3, "name": "Down", "condition": "failed", "threshold": None,
         "for_seconds": 0, "mail": [], "enabled": False},
    ),
}  # fmt: skip


def _document(*nodes: tuple[str, str]) -> dict[str, Any]:
    made = [{"id": id_, "kind": "filter", "params": {"predicate": text}} for id_, text in nodes]
    return {"format": "millrace.topology/1", "name": "Orders", "nodes": made, "edges": []}


_CHANGE: dict[str, Any] = {
    "folder": "Orders", "kind": "changed", "topology": 1, "topology_name": "Orders",
    "deleted_by": None, "deleted_at": None, "commit": "b" * 40, "author": "Grace Hopper",
    "message": "Accept small orders", "at": 1_767_632_400, "document_changed": True,
    "program_changed": False, "tests": ["late.json"], "conflict": True, "problem": None,
    "latest_version": 3,
}  # fmt: skip
_REPOSITORY: dict[str, Any] = {
    "url": "https://git.example.org/streams/orders.git", "branch": "main", "folder": "flows",
    "review": False, "head": "a" * 40, "checked_at": "2026-01-05T17:00:00Z", "failure": None,
    "working": False, "retry_at": None, "waiting": 1,
    "refused": [
        {"topology": 1, "topology_name": "Orders", "name": "Orders",
         "failure": {"code": "git_changed_outside", "facts": {"folder": "Orders"},
                     "message": "Somebody changed the folder Orders.", "hint": "Take the change."}},
    ],
}  # fmt: skip
#: a repository in which somebody changed what was also changed here
REPOSITORY: dict[str, Any] = {
    "/repository": {"roots": ["https://git.example.org/streams/"], "repository": _REPOSITORY},
    "/repository/changes": [
        _CHANGE,
        {**_CHANGE, "folder": "Refunds", "topology": 2, "topology_name": "Refunds", "tests": [],
         "conflict": False, "message": "Count refunds by country"},
        {**_CHANGE, "folder": "Visits", "kind": "new", "topology": None, "topology_name": None,
         "conflict": False, "tests": [], "message": "Visits per page", "latest_version": None},
    ],
    "/repository/changes/Orders": {
        **_CHANGE,
        "base": {**THEIRS, "document": _document(("large", "value.amount > 10"))},
        "mine": {**THEIRS, "number": 3, "document": _document(("large", "value.amount > 5"))},
        "theirs": _document(("large", "value.amount > 1"), ("known", "value.country != ''")),
    },
}  # fmt: skip
_OLD = {"kind": "key_value", "key": "STRING", "values": ["INT"], "windows": None, "tasks": 2}


def _store(id_: str, verdict: str, *reasons: str, **more: Any) -> dict[str, Any]:
    return {
        "id": id_, "name": id_, "kind": "key_value", "verdict": verdict, "reasons": reasons,
        "convertible": False, "rows": 1_214_003, "bytes": 4_500_000, "old": _OLD, "new": _OLD,
        **more,
    }  # fmt: skip


#: what a start does: a store of each verdict
PLAN: dict[str, Any] = {
    "/plan": {
        "before": 2, "version": 3, "as_of": "2026-01-05T17:00:00Z", "accepted": False,
        "reset": False, "parameters": [], "environments": {"old": None, "new": None},
        "approval": None, "tests": None,
        "handover": {"warm": False, "reason": "memory", "message": ""},
        "stores": [
            _store("orders", "kept"),
            _store("sums", "migrated", "value_widened", new={**_OLD, "values": ["BIGINT"]}),
            _store("customers", "incompatible", "value_type_changed", convertible=True,
                   new={**_OLD, "values": ["STRING"]}),
            _store("visits", "lost", new=None),
            _store("totals", "new", old=None, rows=None, bytes=None),
        ],
        "sources": [
            {"topic": "orders", "verdict": "continues",
             "partitions": [{"partition": n, "offset": 1_200 + n, "lag": 34, "stopped": 1_200 + n}
                            for n in range(2)]},
            {"topic": "refunds", "verdict": "new", "partitions": []},
        ],
        "warnings": [
            {"code": "counted_again",
             "message": "Records that are read again are counted again in the stores."},
        ],
    },
}  # fmt: skip
#: topics that a deploy needs
MISSING: dict[str, Any] = {
    "/missing-topics": [
        {"name": "orders-received", "node": "orders_0", "parameter": "topics", "partitions": 4,
         "nearest": ["orders-recieved"]},
        {"name": "orders-per-hour", "node": "orders_7", "parameter": "topic", "partitions": 1,
         "nearest": []},
    ],
}  # fmt: skip
