"""State stores of operators and processors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypedDict, Unpack

from millrace_runtime.code.places import Place, calling
from millrace_runtime.dsl.arguments import SqlType, sql_type
from millrace_runtime.keywords import checked

#: Whole milliseconds, text such as "5 minutes", or a timedelta.
Duration = int | str | timedelta


def in_milliseconds(duration: Duration | None) -> int | str | None:
    """Return a duration in the form used in documents."""
    if isinstance(duration, timedelta):
        return int(duration / timedelta(milliseconds=1))
    return duration


@dataclass(eq=False)
class Store:
    """A state store. Processors that use the same object share the store."""

    kind: str
    name: str
    params: dict[str, Any]
    id: str | None
    label: str | None
    description: str | None
    place: Place


class StoreOptions(TypedDict, total=False):
    """Keyword arguments of all stores.

    `key_type`, `value_type`: Spark SQL types, required for processors, inferred for other
    operators. `persistent`: keep on disk (default: True). `logging`: restore after a failure
    (default: True), with `logging_config` for its topic. `caching`: merge updates of a key
    (default: False). `headers`: rows of processors are `ValueTimestampHeaders`
    or, of a session store, `AggregationWithHeaders` (default: False).
    `id`: the store's identity across versions (default: its name). `label`,
    `description`: see `About`.
    """

    key_type: SqlType | None
    value_type: SqlType | None
    persistent: bool
    logging: bool
    logging_config: Mapping[str, str] | None
    caching: bool
    headers: bool
    id: str | None
    label: str | None
    description: str | None


_DEFAULTS = {
    "persistent": True,
    "logging": True,
    "caching": False,
    "headers": False,
    "retain_duplicates": False,
}


@checked
def key_value_store(name: str, **options: Unpack[StoreOptions]) -> Store:
    """A store of the latest value of each key, ordered by the serialized keys."""
    return _store("key_value", name, options)


@checked
def window_store(
    name: str,
    *,
    retention: Duration | None = None,
    window_size: Duration | None = None,
    retain_duplicates: bool = False,
    **options: Unpack[StoreOptions],
) -> Store:
    """A store of values by key and window start; rows older than `retention` are removed.

    For processors, `retention`, `window_size` and the types are required.
    """
    times = {"retention": retention, "window_size": window_size}
    return _store("window", name, options, times, retain_duplicates=retain_duplicates)


@checked
def session_store(
    name: str, *, retention: Duration | None = None, **options: Unpack[StoreOptions]
) -> Store:
    """A store of values by key and session; sessions older than `retention` are removed."""
    return _store("session", name, options, {"retention": retention})


@checked
def versioned_store(
    name: str, *, history_retention: Duration, **options: Unpack[StoreOptions]
) -> Store:
    """A store of the history of each key; versions older than `history_retention` are removed."""
    return _store("versioned", name, options, {"history_retention": history_retention})


def _store(
    kind: str,
    name: str,
    options: StoreOptions,
    times: Mapping[str, Duration | None] | None = None,
    **more: Any,
) -> Store:
    """Create a store. Omitted parameters and defaults are not part of the document."""
    given: dict[str, Any] = dict(options)
    id_, label, description = (given.pop(key, None) for key in ("id", "label", "description"))
    for part in ("key_type", "value_type"):
        if given.get(part) is not None:
            given[part] = sql_type(given[part], f"{part}=")
    params = given | {key: in_milliseconds(value) for key, value in (times or {}).items()} | more
    params = {k: v for k, v in params.items() if v not in (None, {}) and v is not _DEFAULTS.get(k)}
    if "logging_config" in params:
        params["logging_config"] = dict(params["logging_config"])
    return Store(kind, name, params, id_, label, description, calling())
