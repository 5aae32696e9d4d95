"""Functions that are arguments of aggregations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from millrace_compiler.declarations.functions import AGGREGATOR, INITIALIZER, MERGER, REDUCER
from millrace_compiler.types.types import DataType, NoType, parse_type

from millrace_runtime.dsl.arguments import SqlType, sql_type
from millrace_runtime.dsl.called import Called
from millrace_runtime.dsl.functions import Functions, Site, record
from millrace_runtime.dsl.nodes import About, End
from millrace_runtime.functions.translate import Column

#: initializers that are certainly not null
_PRESENT = re.compile(
    r"-?\d+(\.\d+)?([eE][-+]?\d+)?[LlDd]?|'([^'\\]|\\.)*'|true|false", re.IGNORECASE
)
_EMPTY = re.compile(r"CAST\(map\(\) AS MAP<[^()]*>\)")


@dataclass(frozen=True)
class Fold:
    """An aggregation of the records of an output port, grouped `by` expressions.

    `window`: the type of its window, if any. `called`: its functions that run in Python.
    """

    functions: Functions
    end: End
    by: Mapping[str, Any] | None
    window: str | None
    called: Called

    def reduced(self, given: Mapping[str, object], about: About) -> dict[str, object]:
        """The parameters of a reduction: expressions over `agg` and `value`."""
        value = self._columns()["value"]
        # Overlapping sessions are reduced as well, and may have been deleted.
        columns = {"agg": replace(value, name="agg"), "value": value}
        node = about.get("name")
        return {
            name: self.called.text(each, Site("reduce", name, columns, REDUCER, value.type), node)
            for name, each in given.items()
        }

    def aggregated(
        self, type: SqlType, given: Mapping[str, object], about: About, *, method: str = "aggregate"
    ) -> dict[str, object]:
        """The parameters of an aggregation into a type."""
        text = sql_type(type, method)
        expects = _parsed(text)
        node = about.get("name")
        made: dict[str, object] = {"type": text}
        for name, each in given.items():
            if name == "initializer":
                site = Site(method, name, {}, INITIALIZER, expects)
            elif name == "merger":
                site = Site(method, name, self._sessions(expects), MERGER, expects)
            else:
                changing = self.window in ("session", "sliding")
                none = changing or not _present(made["initializer"])
                columns = {**self._columns(), "agg": Column("agg", expects, none=none)}
                site = Site(method, name, columns, AGGREGATOR, expects)
            made[name] = self.called.text(each, site, node)
        return made

    def _columns(self) -> dict[str, Column]:
        """Key and value as an aggregator sees them: records without them are dropped."""
        port = self.functions.port(self.end)
        found = record(port)
        key, value = port.key, port.value
        if self.by is not None:
            key = self.functions.type_of(self.by.get("key"), port)
            if "value" in self.by:
                value = self.functions.type_of(self.by["value"], port)
        # In session windows, Kafka Streams drops only records without a key.
        none = self.window == "session"
        return {
            "key": Column("key", key, none=False),
            "value": Column("value", value, none=none),
            "timestamp": found["timestamp"],
        }

    def _sessions(self, agg: DataType | None) -> dict[str, Column]:
        key = self._columns()["key"]
        return {"key": key, "left": Column("left", agg), "right": Column("right", agg)}


def _parsed(type: str) -> DataType | None:
    try:
        return parse_type(type)
    except NoType:
        return None


def _present(initializer: Any) -> bool:
    """Whether an initial value is certainly not null."""
    text = str(initializer).strip()
    whole = text.endswith(")") and text.count("(") == 1
    made = whole and re.match(r"(named_struct|array|map)\(", text, re.IGNORECASE)
    return bool(_PRESENT.fullmatch(text) or _EMPTY.fullmatch(text) or made)
