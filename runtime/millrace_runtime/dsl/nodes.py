"""Nodes and edges of a topology, as a program adds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypedDict, cast

from millrace_compiler.declarations.operator import registry
from millrace_compiler.graphs.expansion import SEPARATOR
from millrace_compiler.program.identities import Identities, base_of
from millrace_compiler.program.labels import implied_label
from millrace_model.documents import (
    DocumentEdge,
    DocumentNode,
    DocumentParameter,
    FragmentDefinition,
)

from millrace_runtime.code.places import Comment, Place, calling, comments
from millrace_runtime.dsl.arguments import require_format
from millrace_runtime.dsl.functions import Functions
from millrace_runtime.dsl.stores import Store
from millrace_runtime.job.outside import Outside


class About(TypedDict, total=False):
    """Arguments of every node.

    `name`: the node's id, which is its identity across versions (default: its kind, such as
    `filter`, `filter-2`; the topic for a source). `label` and `description`: text for people
    (default: the comment above the call; without a comment, the label is the name or, for a node
    without a name, the variable). An empty label means no label. `functions`: source and types of
    functions in Python that the expressions of a table, an aggregation or a rule call, where they
    cannot stand in the program: `{"code": ..., "returns": {"add": "BIGINT"}}`.
    """

    name: str
    label: str
    description: str
    functions: Mapping[str, Any]


@dataclass(frozen=True)
class End:
    """An output port of a node."""

    node: str
    port: str = "out"


class Definition(Protocol):
    """The definition of a fragment."""

    @property
    def fragment(self) -> Any:
        """The fragment that it is a definition of."""

    def documented(self, *, labels: bool) -> FragmentDefinition:
        """Return the definition in a document."""


@dataclass
class Nodes:
    """Nodes, edges and stores in the order of the calls.

    `dataframe`: returns the records of a sink as a DataFrame (`Writable.to_dataframe`).
    """

    dataframe: Callable[..., Any]
    nodes: list[DocumentNode] = field(default_factory=list)
    edges: list[DocumentEdge] = field(default_factory=list)
    places: dict[str, list[Place]] = field(default_factory=dict)
    outside: Outside = field(default_factory=Outside)
    #: declarations of the topology's parameters, by name
    parameters: dict[str, DocumentParameter] = field(default_factory=dict)
    #: definitions of the fragments that are used, by name and version
    fragments: dict[str, Definition] = field(default_factory=dict)
    #: the fragments that these nodes are in
    within: tuple[str, ...] = ()
    #: the same as `places` for nodes in fragments, by the ids that they run as
    inner_places: dict[str, Place] = field(default_factory=dict)
    _ids: Identities = field(default_factory=Identities)
    _stores: dict[int, str] = field(default_factory=dict)
    _kept: list[Store] = field(default_factory=list)

    def add(
        self,
        kind: str,
        params: Mapping[str, Any],
        inputs: Sequence[tuple[End, str]],
        about: About,
        stores: Sequence[Store | End] = (),
        places: Sequence[Place] = (),
    ) -> str:
        """Add a node with its edges and stores, and return its id.

        `inputs`: output ports of other nodes, each with the input port that it is connected to;
        `stores`: stores, and tables whose stores the node reads; `places`: earlier calls that
        belong to the node. Raises ValueError for a name in use.
        """
        for store in stores:
            if not isinstance(store, Store | End):
                raise TypeError(
                    f'{kind} takes a store such as key_value_store("name"), found {store!r}'
                )
        given = {name: value for name, value in params.items() if value is not None}
        if kind.startswith(("source.", "sink.")):
            for place in ("key", "value"):
                require_format(given.get(place), place)
        given |= _functions(kind, about)
        topics = given.get("topics") or ([given["topic"]] if "topic" in given else [])
        id_ = self._ids.take(about.get("name") or self._ids.default(base_of(kind, topics)))
        self.nodes.append(_node(id_, kind, given, about))
        self.places[id_] = [*places, calling()]
        for end, port in inputs:
            self._edge(end, id_, port)
        for store in stores:
            end = store if isinstance(store, End) else End(self.store(store))
            self._edge(end, id_, "store")
        return id_

    def add_port(
        self,
        kind: str,
        name: str,
        params: Mapping[str, object],
        about: About,
        end: End | None = None,
    ) -> None:
        """Add a port of a fragment; `end`: the output port of the node before it."""
        id_ = self._ids.take(name)
        self.nodes.append(_node(id_, kind, params, about))
        if end is not None:
            self._edge(end, id_, "in")

    def take_inner(self, node: str, inner: Nodes, identities: Mapping[str, str]) -> None:
        """Note places and code of the nodes in a fragment, by the ids that they run as."""

        def id_of(path: str) -> str:
            return identities.get(path) or f"{node}{SEPARATOR}{path}"

        places = {each: found[-1] for each, found in inner.places.items()} | inner.inner_places
        self.inner_places |= {id_of(path): place for path, place in places.items()}
        mine, other = self.outside, inner.outside
        mine.codes |= {id_of(path): code for path, code in other.codes.items()}
        mine.windows |= {id_of(path): code for path, code in other.windows.items()}
        mine.called |= {id_of(path): code for path, code in other.called.items()}

    @cached_property
    def functions(self) -> Functions:
        """The Python functions that are arguments of the calls."""
        return Functions(self)

    def free_id(self, base: str) -> str:
        """Return the id that a node of this name gets by default: `base`, `base-2`, ..."""
        return self._ids.default(base)

    def store(self, store: Store) -> str:
        """Return the id of a store's node, which is added on first use."""
        if id(store) not in self._stores:
            id_ = self._ids.take(store.id or self._ids.default_of_store(store.name))
            about = About(description=store.description or "")
            if store.label is not None:
                about["label"] = store.label
            params = {"name": store.name, **store.params}
            self.nodes.append(_node(id_, f"store.{store.kind}", params, about))
            self.places[id_] = [store.place]
            self._stores[id(store)] = id_
            self._kept.append(store)  # the id() of a deleted object could be reused
        return self._stores[id(store)]

    def _edge(self, end: End, target: str, port: str) -> None:
        edge: DocumentEdge = {"source": end.node, "target": target}
        if end.port != "out":
            edge["source_port"] = end.port
        if port != "in":
            edge["target_port"] = port
        self.edges.append(edge)

    def documented(self, *, labels: bool) -> list[DocumentNode]:
        """Return the nodes with labels and descriptions taken from comments.

        `labels`: without a comment, the name or the variable of a node becomes its label.
        """
        # Stores come first: a comment above a call then belongs to the operator, not to a store
        # that is created in the arguments of the call.
        stores = {id_: self.places[id_] for id_ in self._stores.values()}
        found = comments(stores | self.places)
        # Ports of fragments have no calls.
        return [
            _documented(
                node, found.get(node["id"], Comment()), labels=labels and node["id"] in found
            )
            for node in self.nodes
        ]


def _node(id_: str, kind: str, params: Mapping[str, object], about: About) -> DocumentNode:
    node: DocumentNode = {"id": id_, "kind": kind, "params": dict(params)}
    if about.get("label") is not None:
        node["label"] = about["label"]
    if about.get("description"):
        node["description"] = about["description"]
    return node


def _functions(kind: str, about: About) -> dict[str, object]:
    """The functions that a call has as text, as parameters of its node."""
    given = about.get("functions")
    if given is None:
        return {}
    if "functions" not in registry()[kind].parameters:
        raise TypeError(f"the expressions of {kind} cannot call functions")
    if not isinstance(given, Mapping) or set(given) != {"code", "returns"}:
        raise TypeError('functions= takes {"code": ..., "returns": {name: type}}')
    return {"functions": given["code"], "returns": dict(given["returns"])}


def _documented(node: DocumentNode, found: Comment, *, labels: bool) -> DocumentNode:
    implied = implied_label(node["kind"], node["id"], found.variable) if labels else None
    texts = {"label": found.label or implied, "description": found.description}
    order = ("id", "kind", "label", "description", "params")
    made = {**texts, **node}
    return cast(
        DocumentNode, {name: made[name] for name in order if name == "params" or made[name]}
    )
