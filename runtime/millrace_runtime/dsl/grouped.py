"""Aggregations of grouped streams and tables, and cogroups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Generic, Literal, Self, TypeVar, Unpack

from millrace_runtime.code.places import calling
from millrace_runtime.dsl.arguments import require
from millrace_runtime.dsl.called import Called
from millrace_runtime.dsl.folds import Fold
from millrace_runtime.dsl.functions import Expression
from millrace_runtime.dsl.handles import Handle
from millrace_runtime.dsl.nodes import About, Nodes
from millrace_runtime.dsl.stores import Store
from millrace_runtime.dsl.windows import Window
from millrace_runtime.functions.given_types import SqlType
from millrace_runtime.keywords import Checked

Emit = Literal["every_update", "window_close"]
T = TypeVar("T", bound=Handle)


class StreamGroups(Checked, ABC, Generic[T]):
    """The aggregations of a stream grouped by key, whose results are tables of the class T."""

    def __init__(
        self, stream: Handle, by: dict[str, str] | None, repartition: str | None = None
    ) -> None:
        self._stream, self._by, self._repartition = stream, by, repartition
        self._window: Window | None = None
        self._emit: str | None = None
        self._places = [calling()]

    @abstractmethod
    def _made(self, nodes: Nodes, node: str) -> T:
        """Return the table of a node."""

    def windowed_by(self, window: Window, *, emit: Emit = "every_update") -> Self:
        """Group by time as well: `tumbling`, `hopping`, `sliding`, `sessions`, `unlimited`.

        `custom_windows`: those that a function returns. `emit`: every update, or one final result
        when the window closes.
        """
        require(window, Window, 'windowed_by takes a window such as tumbling("5 minutes")')
        made = type(self)(self._stream, self._by, self._repartition)
        made._window, made._emit = window, None if emit == "every_update" else emit
        made._places = [*self._places, calling()]
        return made

    def count(self, *, store: Store | None = None, **about: Unpack[About]) -> T:
        """Count the records of each key (BIGINT)."""
        return self._aggregate("count", {}, store, about)

    def reduce(
        self, reducer: Expression, *, store: Store | None = None, **about: Unpack[About]
    ) -> T:
        """Combine the values of each key by an expression over `agg` and `value`."""
        fold = self._fold
        params = fold.reduced({"reducer": reducer}, about)
        return self._aggregate("reduce", params, store, about, fold.called)

    def aggregate(
        self,
        type: SqlType,
        *,
        initializer: Expression,
        aggregator: Expression,
        merger: Expression | None = None,
        store: Store | None = None,
        **about: Unpack[About],
    ) -> T:
        """Combine the values of each key into an aggregate of a Spark SQL type.

        The aggregator is an expression over `agg`, `key`, `value` and `timestamp`, or a function
        of (key, value, agg). Session windows need a `merger`, an expression over `key`, `left` and
        `right`.
        """
        given = {"initializer": initializer, "aggregator": aggregator, "merger": merger}
        fold = self._fold
        params = fold.aggregated(type, given, about)
        return self._aggregate("aggregate", params, store, about, fold.called)

    @property
    def _fold(self) -> Fold:
        nodes = self._stream._nodes
        window = self._window.parts["type"] if self._window else None
        called = Called(nodes.functions)
        return Fold(nodes.functions, self._stream._end, self._by, window, called)

    def _aggregate(
        self,
        kind: str,
        params: dict[str, object],
        store: Store | None,
        about: About,
        called: Called | None = None,
    ) -> T:
        window = self._window.parts if self._window else None
        node = {
            **(called.added_to(params) if called else params),
            "group_by": self._by,
            "window": window,
            "repartition": self._repartition,
            "emit": self._emit,
        }
        made = self._stream._add(kind, node, about, stores=[store], places=self._places)
        _keep_code(self._stream, made, self._window)
        if called:
            called.keep(self._stream._nodes, made)
        return self._made(self._stream._nodes, made)


def _keep_code(stream: Handle, node: str, window: Window | None) -> None:
    """Keep where the function of windows stands, whose lines errors name."""
    if window is not None and window.own is not None:
        stream._nodes.outside.windows[node] = window.own


class TableGroups(Checked, ABC, Generic[T]):
    """The aggregations of a table grouped by a new key."""

    def __init__(
        self, table: Handle, by: dict[str, str], called: Called, repartition: str | None = None
    ) -> None:
        self._table, self._by, self._repartition = table, by, repartition
        self._called = called
        self._places = [calling()]

    @abstractmethod
    def _made(self, nodes: Nodes, node: str) -> T:
        """Return the table of a node."""

    def count(self, *, store: Store | None = None, **about: Unpack[About]) -> T:
        """Count the rows of each group (BIGINT)."""
        return self._aggregate("count", {}, store, about, self._called)

    def reduce(
        self,
        reducer: Expression,
        *,
        subtractor: Expression,
        store: Store | None = None,
        **about: Unpack[About],
    ) -> T:
        """Combine the values of each group; the subtractor removes an old value."""
        fold = self._fold
        params = fold.reduced({"reducer": reducer, "subtractor": subtractor}, about)
        return self._aggregate("reduce", params, store, about, fold.called)

    def aggregate(
        self,
        type: SqlType,
        *,
        initializer: Expression,
        aggregator: Expression,
        subtractor: Expression,
        store: Store | None = None,
        **about: Unpack[About],
    ) -> T:
        """Aggregate the values of each group; the subtractor removes an old value."""
        given = {
            "initializer": initializer,
            "aggregator": aggregator,
            "subtractor": subtractor,
        }
        fold = self._fold
        params = fold.aggregated(type, given, about)
        return self._aggregate("aggregate", params, store, about, fold.called)

    @property
    def _fold(self) -> Fold:
        called = self._called.copy()
        return Fold(self._table._nodes.functions, self._table._end, self._by, None, called)

    def _aggregate(
        self,
        kind: str,
        params: dict[str, object],
        store: Store | None,
        about: About,
        called: Called,
    ) -> T:
        by = {"group_by": self._by, "repartition": self._repartition}
        node = called.added_to({**params, **by})
        made = self._table._add(kind, node, about, stores=[store], places=self._places)
        called.keep(self._table._nodes, made)
        return self._made(self._table._nodes, made)


class Cogroups(Checked, Generic[T]):
    """The aggregation of several grouped streams."""

    def __init__(
        self, inputs: list[tuple[str, StreamGroups[T], Expression]], window: Window | None = None
    ) -> None:
        self._inputs, self._window = inputs, window

    def cogroup(
        self, grouped: StreamGroups[T], aggregator: Expression, *, port: str | None = None
    ) -> Self:
        """Add a grouped stream with its own aggregator, as that of `GroupedStream.aggregate`."""
        named = port or f"in{len(self._inputs) + 1}"
        return type(self)([*self._inputs, (named, grouped, aggregator)], self._window)

    def windowed_by(self, window: Window) -> Self:
        """Group by time as well; see `GroupedStream.windowed_by`."""
        require(window, Window, 'windowed_by takes a window such as tumbling("5 minutes")')
        return type(self)(self._inputs, window)

    def aggregate(
        self,
        type: SqlType,
        *,
        initializer: Expression,
        merger: Expression | None = None,
        store: Store | None = None,
        **about: Unpack[About],
    ) -> T:
        """Aggregate into a Spark SQL type. Session windows need a `merger`."""
        window = self._window.parts["type"] if self._window else None
        called = self._inputs[0][1]._fold.called
        folds = [
            replace(grouped._fold, window=window, called=called) for _, grouped, _ in self._inputs
        ]
        given = {"initializer": initializer, "merger": merger}
        params = folds[0].aggregated(type, given, about, method="cogroup")
        listed = []
        for (port, grouped, aggregator), fold in zip(self._inputs, folds, strict=True):
            own = fold.aggregated(
                type,
                {"initializer": params["initializer"], "aggregator": aggregator},
                about,
                method="cogroup",
            )
            by: dict[str, object] = {"group_by": grouped._by} if grouped._by else {}
            if grouped._repartition:
                by["repartition"] = grouped._repartition
            listed.append({"port": port, "aggregator": own["aggregator"], **by})
        params |= {"inputs": listed, "window": self._window.parts if self._window else None}
        first_port, first, _ = self._inputs[0]
        others = [(grouped._stream, port) for port, grouped, _ in self._inputs[1:]]
        made = first._stream._add(
            "cogroup", called.added_to(params), about, inputs=others, port=first_port,
            stores=[store], places=first._places,
        )  # fmt: skip
        called.keep(first._stream._nodes, made)
        _keep_code(first._stream, made, self._window)
        return first._made(first._stream._nodes, made)
