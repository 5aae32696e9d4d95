"""The state schema of a compiled document: its stores with their types, and its topics.

A store's id is that of its store node or, without one, of the operator that owns it; buffers of
joins and suppressions and subscriptions of foreign-key joins have the id of their operator. See
:mod:`millrace_compiler.state.state_changes` for the format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NotRequired, TypedDict, cast

from millrace_model.state import Field, SparkType, StateSchema, StoreSchema, Windows

from millrace_compiler.compilation.compilation import Compilation
from millrace_compiler.declarations.operator import Operator, Store
from millrace_compiler.declarations.ports import Port
from millrace_compiler.declarations.steps import Step
from millrace_compiler.documents.topic_patterns import topic_pattern
from millrace_compiler.planning.plan import Plan
from millrace_compiler.state.state_changes import StateChange, compare
from millrace_compiler.types.types import BIGINT, BINARY, STRING, DataType, struct

_SIMPLE = {
    "TINYINT": "byte",
    "SMALLINT": "short",
    "INT": "integer",
    "BIGINT": "long",
    "INTERVAL YEAR TO MONTH": "interval year to month",
}
#: The value of a foreign-key join's subscription: which left row refers to which right row.
_SUBSCRIPTION = struct(hash=BINARY, task=BIGINT)

#: Kinds of stores that can be queried. Buffers of joins and suppressions cannot, as in Kafka
#: Streams.
QUERYABLE = ("key_value", "window", "session", "versioned")


def state_schema(compilation: Compilation) -> StateSchema:
    """The state schema of a document; for a plain program, with its ``identity``.

    Raises :class:`Refused` if the document is refused.
    """
    plan = compilation.require().plan
    if plan is None:
        raise ValueError("a compiled document has a plan")
    stores: dict[str, StoreSchema] = {}
    for step in plan.physical.steps.values():
        for store in _Schemas(compilation, plan, step).stores():
            known = stores.get(store["id"], store)
            merged: StoreSchema = {**store, **known}
            merged["values"] = {**store["values"], **known["values"]}
            stores[store["id"]] = merged
    reads = [step.reads for step in plan.physical.steps.values() if step.reads]
    topics = (topic for each in reads for topic in each.topics)
    schema: StateSchema = {
        "stores": [stores[id_] for id_ in sorted(stores)],
        "topics": sorted({topic for topic in topics if topic not in plan.physical.topics}),
        "patterns": sorted({each.pattern for each in reads if each.pattern}),
        "known": sorted(compilation.document.topics),
    }
    identity = compilation.identity
    return schema if identity is None else {"identity": identity, **schema}


def compare_state(old: Compilation, new: Compilation) -> StateChange:
    """Compares the state of two documents. Raises :class:`Refused` if one is refused."""
    return compare_schemas(state_schema(old), state_schema(new))


def compare_schemas(old: StateSchema, new: StateSchema) -> StateChange:
    """Compares two state schemas."""
    return compare(old, new, _matches)


def _matches(pattern: str, topic: str) -> bool:
    return topic_pattern(pattern).matches(topic)


def spark_json(type_: DataType) -> SparkType:
    """A type in the JSON form of Spark's ``DataType.json``."""
    if type_.name == "STRUCT":
        fields = zip(type_.fields, type_.inner, strict=True)
        return {"type": "struct", "fields": [_field(name, inner) for name, inner in fields]}
    if type_.name == "ARRAY":
        return {"type": "array", "elementType": spark_json(type_.inner[0])}
    if type_.name == "MAP":
        key, value = type_.inner
        return {"type": "map", "keyType": spark_json(key), "valueType": spark_json(value)}
    name = _SIMPLE.get(type_.name, type_.name.lower())
    return f"{name}({','.join(map(str, type_.numbers))})" if type_.numbers else name


def _field(name: str, type_: DataType) -> Field:
    return {"name": name, "type": spark_json(type_)}


class _Named(TypedDict):
    """The first fields of a store's schema."""

    id: str
    name: str
    kind: str
    tasks: int | None
    duplicates: NotRequired[bool]
    row_tasks: NotRequired[int | None]


class _Schemas:
    """The stores of one step."""

    def __init__(self, compilation: Compilation, plan: Plan, step: Step) -> None:
        self.compilation, self.step = compilation, step
        self.operator = compilation.graph.operators[step.node]
        self.tasks = None if step.is_global else plan.subtopologies[plan.of_step[step.id]].tasks
        self.kept = bool(step.keeps.stores) or step.is_global

    def stores(self) -> Iterator[StoreSchema]:
        """The schemas of the stores; none for a step without state."""
        if not self.kept:
            return
        buffer = self.operator.buffer
        if self.operator.runs_python:
            yield from map(self._of_processor, self.operator.own_stores)
        elif buffer is not None:
            values = {name: self._input(port).value for name, port in buffer.values.items()}
            kind = buffer.kind
            if self.step.op == "join_self":
                kind, values = "self_join_buffer", {buffer.keyed: values[buffer.keyed]}
            yield self._store(self.operator, kind, self._input(buffer.keyed), values)
        elif self.step.op == "foreign_key_lookup":
            yield self._subscriptions()
        else:
            yield self._table()

    def _input(self, port: str) -> Port:
        edge = self.compilation.graph.inputs[self.operator.id][port][0]
        return self.compilation.ports[edge.source, edge.source_port]

    def _table(self) -> StoreSchema:
        """The store with an operator's own result."""
        out = self.compilation.ports[self.operator.id, "out"]
        connected = self.operator.store
        kind = connected.type if connected else self.operator.store_type
        if self.step.op == "foreign_key_resolve" and not connected:
            row = self._store(self.operator, kind, out, {"row": out.value})
            return {**row, "row_tasks": self.tasks}
        return self._store(connected or self.operator, kind, out, {"value": out.value})

    def _subscriptions(self) -> StoreSchema:
        left, right = self._input("left"), self._input("right")
        made = self._store(self.operator, "subscriptions", left, {"subscriber": _SUBSCRIPTION})
        key = struct(foreign=_known(right.key), primary=_known(left.key))
        return {**made, "key": spark_json(key), "windows": None}

    def _of_processor(self, store: Store) -> StoreSchema:
        values = store.values
        made = self._named(store, store.type)
        if values.get("retain_duplicates"):
            made["duplicates"] = True
        return {
            **made,
            "key": spark_json(_known(values.get("key_type"))),
            "values": {"value": spark_json(_known(store.row_type))},
            "windows": cast(Windows, {"size": values["window_size"]})
            if "window_size" in values
            else None,
        }

    def _named(self, owner: Operator, kind: str) -> _Named:
        name = owner.store_name() if isinstance(owner, Store) else owner.id
        return {"id": owner.id, "name": name, "kind": kind, "tasks": self.tasks}

    def _store(
        self, owner: Operator, kind: str, keyed: Port, values: Mapping[str, DataType | None]
    ) -> StoreSchema:
        """The schema of a store whose rows have key and windows of the port ``keyed``."""
        window = keyed.window
        parts = (
            []
            if window is None
            else [part for part in window.parts if part[0] not in ("grace", "code")]
        )
        return {
            **self._named(owner, kind),
            "key": spark_json(_known(keyed.plain_key)),
            "values": {part: spark_json(_known(type_)) for part, type_ in values.items()},
            "windows": None
            if window is None
            else cast(Windows, {"type": window.type, **dict(parts)}),
        }


def _known(type_: object) -> DataType:
    """Narrows a type: all types of a compiled document are known."""
    return type_ if isinstance(type_, DataType) else STRING
