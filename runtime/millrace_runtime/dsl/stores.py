"""State stores of operators and processors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from millrace_runtime.dsl.places import Place, calling

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


def key_value_store(
    name: str,
    *,
    key_type: str | None = None,
    value_type: str | None = None,
    persistent: bool = True,
    logging: bool = True,
    logging_config: Mapping[str, str] | None = None,
    caching: bool = False,
    id: str | None = None,
    label: str | None = None,
    description: str | None = None,
) -> Store:
    """A store of the latest value of each key, ordered by the serialized keys.

    The types are Spark SQL types: required for processors, inferred for other operators. `id` is
    the store's identity across versions (default: its name).
    """
    common = _common(key_type, value_type, persistent, logging, logging_config, caching)
    return Store("key_value", name, common, id, label, description, calling())


def window_store(
    name: str,
    *,
    key_type: str | None = None,
    value_type: str | None = None,
    retention: Duration | None = None,
    window_size: Duration | None = None,
    retain_duplicates: bool = False,
    persistent: bool = True,
    logging: bool = True,
    logging_config: Mapping[str, str] | None = None,
    caching: bool = False,
    id: str | None = None,
    label: str | None = None,
    description: str | None = None,
) -> Store:
    """A store of values by key and window start; rows older than `retention` are removed.

    For processors, `retention`, `window_size` and the types are required.
    """
    common = _common(key_type, value_type, persistent, logging, logging_config, caching)
    common |= _given(retention=in_milliseconds(retention), window_size=in_milliseconds(window_size))
    if retain_duplicates:
        common["retain_duplicates"] = True
    return Store("window", name, common, id, label, description, calling())


def session_store(
    name: str,
    *,
    key_type: str | None = None,
    value_type: str | None = None,
    retention: Duration | None = None,
    persistent: bool = True,
    logging: bool = True,
    logging_config: Mapping[str, str] | None = None,
    caching: bool = False,
    id: str | None = None,
    label: str | None = None,
    description: str | None = None,
) -> Store:
    """A store of values by key and session; sessions older than `retention` are removed."""
    common = _common(key_type, value_type, persistent, logging, logging_config, caching)
    common |= _given(retention=in_milliseconds(retention))
    return Store("session", name, common, id, label, description, calling())


def versioned_store(
    name: str,
    *,
    history_retention: Duration,
    key_type: str | None = None,
    value_type: str | None = None,
    persistent: bool = True,
    logging: bool = True,
    logging_config: Mapping[str, str] | None = None,
    caching: bool = False,
    id: str | None = None,
    label: str | None = None,
    description: str | None = None,
) -> Store:
    """A store of the history of each key; versions older than `history_retention` are removed."""
    common = _common(key_type, value_type, persistent, logging, logging_config, caching)
    common |= _given(history_retention=in_milliseconds(history_retention))
    return Store("versioned", name, common, id, label, description, calling())


def _common(
    key_type: str | None,
    value_type: str | None,
    persistent: bool,
    logging: bool,
    logging_config: Mapping[str, str] | None,
    caching: bool,
) -> dict[str, Any]:
    found = _given(key_type=key_type, value_type=value_type)
    if not persistent:
        found["persistent"] = False
    if not logging:
        found["logging"] = False
    if logging_config:
        found["logging_config"] = dict(logging_config)
    if caching:
        found["caching"] = True
    return found


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
