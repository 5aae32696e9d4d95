"""Whether a connected store fits the operator that keeps its rows in it."""

from __future__ import annotations

from millrace_compiler.declarations.operator import Scope, registry
from millrace_compiler.declarations.ports import Port
from millrace_compiler.documents.durations import show_duration


def check_store(scope: Scope, kinds: tuple[str, ...], port: Port) -> None:
    """Checks kind, types and retention of the store of an operator whose result is ``port``."""
    store = scope.operator.store
    if store is None:
        return
    if store.kind not in kinds:
        if kinds:
            titles = {kind: operator.title for kind, operator in registry().items()}
            needed_kinds = " or ".join(f"“{titles[kind]}”" for kind in kinds)
            # What the page's fix of it sets.
            fix = {"kind": kinds[0]}
            if port.window and port.window.type != "unlimited":
                fix["retention"] = show_duration(port.window.reach)
            scope.fault(
                "store_kind",
                "store",
                found=store.title,
                needed=needed_kinds,
                store=store.id,
                **fix,
            )
        else:
            scope.fault("store_for_tables", "store", store=store.id)
        return
    if store.values.get("headers"):
        scope.report.add("store_headers", store.id, "headers", operator=scope.operator.id)
    for parameter, needed in (("key_type", port.plain_key), ("value_type", port.value)):
        found = store.values.get(parameter)
        if found is not None and needed is not None and found != needed:
            scope.report.add(
                "store_type",
                store.id,
                parameter,
                found=str(found),
                needed=needed.text,
                operator=scope.operator.id,
            )
    retention = store.values.get("retention")
    window = port.window
    if isinstance(retention, int) and window:
        reach = window.reach
        if retention < reach:
            needed_text = "without end" if window.type == "unlimited" else show_duration(reach)
            scope.report.add(
                "retention",
                store.id,
                "retention",
                found=show_duration(retention),
                needed=needed_text,
                operator=scope.operator.id,
            )


def window_stores(window: object) -> tuple[str, ...]:
    """Kinds of store that an aggregation with this window can have."""
    type_ = getattr(window, "type", None)
    if type_ is None:
        return ("store.key_value", "store.versioned")
    return ("store.session",) if type_ == "session" else ("store.window",)
