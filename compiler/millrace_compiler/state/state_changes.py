"""Compares the state of two versions of a topology: the verdict on each store and each source.

This module is the only implementation of the rules: the compiler reports the verdicts before a
deployment, and the workers and the job apply them (:mod:`millrace_model.state` has the shapes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from millrace_model.state import (
    Field,
    SparkType,
    StateChangeJson,
    StateSchema,
    StoreSchema,
    StoreVerdictJson,
)

StoreVerdict = Literal["kept", "migrated", "incompatible", "new", "lost"]
SourceVerdict = Literal["continues", "new", "gone"]
Matches = Callable[[str, str], bool]

INCOMPATIBLE = frozenset(
    {"store_kind_changed", "key_type_changed", "value_type_changed", "windows_changed"}
)
_KIND: tuple[Literal["kind", "duplicates"], ...] = ("kind", "duplicates")
_WIDER = (("byte", "short", "integer", "long"), ("float", "double"))
_CHANGED = frozenset({"value_type_changed"})
_SHORT = {"byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT"}


@dataclass(frozen=True)
class StoreChange:
    """The verdict on one store; ``old`` and ``new`` are its schemas, if it has them."""

    id: str
    kind: str
    verdict: StoreVerdict
    reasons: tuple[str, ...]
    old: StoreSchema | None
    new: StoreSchema | None

    @property
    def name(self) -> str:
        """The name of the store, in the new version if it has it."""
        found = self.new or self.old
        return self.id if found is None else found["name"]

    def to_json(self) -> StoreVerdictJson:
        """The output of ``compare-state --json`` for this store."""
        return {
            "id": self.id,
            "kind": self.kind,
            "verdict": self.verdict,
            "reasons": list(self.reasons),
        }


@dataclass(frozen=True)
class StateChange:
    """The result of a comparison: stores by id, topics of sources by name."""

    stores: tuple[StoreChange, ...]
    sources: tuple[tuple[str, SourceVerdict], ...]

    @property
    def undecided(self) -> tuple[StoreChange, ...]:
        """Stores whose rows cannot be carried over, so a person has to decide about each."""
        return tuple(s for s in self.stores if s.verdict in ("lost", "incompatible"))

    @property
    def accepted(self) -> bool:
        """Whether nothing is lost."""
        return not self.undecided

    def to_json(self) -> StateChangeJson:
        """The output of ``compare-state --json``."""
        return {
            "stores": [store.to_json() for store in self.stores],
            "sources": [{"topic": topic, "verdict": verdict} for topic, verdict in self.sources],
            "accepted": self.accepted,
        }


def compare(
    old: StateSchema, new: StateSchema, matches: Matches = lambda pattern, topic: False
) -> StateChange:
    """Compare two state schemas. ``matches``: whether a topic pattern matches a topic."""
    before = {store["id"]: store for store in old["stores"]}
    after = {store["id"]: store for store in new["stores"]}
    stores = tuple(
        _store(id_, before.get(id_), after.get(id_)) for id_ in sorted({*before, *after})
    )
    return StateChange(stores, _sources(old, new, matches))


def _store(id_: str, old: StoreSchema | None, new: StoreSchema | None) -> StoreChange:
    if new is None:
        return StoreChange(id_, "" if old is None else old["kind"], "lost", (), old, new)
    if old is None:
        return StoreChange(id_, new["kind"], "new", (), old, new)
    reasons = store_reasons(old, new)
    verdict: StoreVerdict = "kept"
    if reasons:
        verdict = "incompatible" if INCOMPATIBLE & reasons else "migrated"
    return StoreChange(id_, new["kind"], verdict, tuple(sorted(reasons)), old, new)


def convertible(store: StoreChange) -> bool:
    """Whether an expression over the old values can resolve all incompatibilities."""
    return INCOMPATIBLE & set(store.reasons) == _CHANGED


def value_types(store: StoreChange) -> list[tuple[str, str]]:
    """The types of values before and after, of the parts that both versions have."""
    if store.old is None or store.new is None:
        return []
    old, new = store.old["values"], store.new["values"]
    return sorted(
        {(type_text(old[part]), type_text(new[part])) for part in old.keys() & new.keys()}
    )


def store_reasons(old: StoreSchema, new: StoreSchema) -> frozenset[str]:
    """The changes of a store that is in both versions."""
    found: set[str] = set()
    whole = (store["tasks"] is None for store in (old, new))
    if any(old.get(part) != new.get(part) for part in _KIND) or len({*whole}) > 1:
        found.add("store_kind_changed")
    # The bytes of a key contain the names of its fields, so their case matters here.
    if old["key"] != new["key"]:
        found.add("key_type_changed")
    if old["windows"] != new["windows"]:
        found.add("windows_changed")
    placed = [(old["tasks"], new["tasks"])]
    if "row_tasks" in old and "row_tasks" in new:
        placed.append((old["row_tasks"], new["row_tasks"]))
    if any(was != now and None not in (was, now) for was, now in placed):
        found.add("tasks_changed")
    before, after = old["values"], new["values"]
    common = [part for part in before if part in after]
    value = frozenset[str]().union(*(type_reasons(before[p], after[p]) for p in common))
    return frozenset(found) | (_CHANGED if value & _CHANGED else value)


# ---- types ---------------------------------------------------------------------------------


def type_reasons(old: SparkType, new: SparkType, *, in_key: bool = False) -> frozenset[str]:
    """The changes between two types; ``value_type_changed``: values cannot be converted.

    Field names are compared case-insensitively, as Spark does. ``in_key``: inside the key of a map,
    where removing a field could make two keys equal.
    """
    if isinstance(old, str) or isinstance(new, str):
        if old == new:
            return frozenset()
        return frozenset({"value_widened"}) if _widened(old, new) else _CHANGED
    if old["type"] == "struct" and new["type"] == "struct":
        found = _struct_reasons(old["fields"], new["fields"], in_key=in_key)
    elif old["type"] == "array" and new["type"] == "array":
        found = type_reasons(old["elementType"], new["elementType"], in_key=in_key)
    elif old["type"] == "map" and new["type"] == "map":
        found = type_reasons(old["keyType"], new["keyType"], in_key=True)
        found |= type_reasons(old["valueType"], new["valueType"], in_key=in_key)
    else:
        return _CHANGED
    return _CHANGED if found & _CHANGED else found


def _widened(old: SparkType, new: SparkType) -> bool:
    return any(
        old in chain and new in chain and chain.index(old) < chain.index(new) for chain in _WIDER
    )


def _struct_reasons(old: list[Field], new: list[Field], *, in_key: bool) -> frozenset[str]:
    before = {field["name"].lower(): field["type"] for field in old}
    after = {field["name"].lower(): field["type"] for field in new}
    common = [name for name in before if name in after]
    found: set[str] = set()
    for name in common:
        found |= type_reasons(before[name], after[name], in_key=in_key)
    if after.keys() - before.keys():
        found.add("fields_added")
    if before.keys() - after.keys():
        found.add("value_type_changed" if in_key else "fields_removed")
    if common != [name for name in after if name in before]:
        found.add("fields_reordered")
    return frozenset(found)


def type_text(type_: SparkType) -> str:
    """A type in SQL notation: ``STRUCT<a: INT, b: ARRAY<STRING>>``."""
    if isinstance(type_, str):
        return _SHORT.get(type_, type_.upper())
    if type_["type"] == "struct":
        fields = ", ".join(f"{f['name']}: {type_text(f['type'])}" for f in type_["fields"])
        return f"STRUCT<{fields}>"
    if type_["type"] == "array":
        return f"ARRAY<{type_text(type_['elementType'])}>"
    return f"MAP<{type_text(type_['keyType'])}, {type_text(type_['valueType'])}>"


# ---- sources -------------------------------------------------------------------------------


def _sources(
    old: StateSchema, new: StateSchema, matches: Matches
) -> tuple[tuple[str, SourceVerdict], ...]:
    known = {*old["known"], *new["known"], *old["topics"], *new["topics"]}

    def topics(schema: StateSchema) -> set[str]:
        """Topics that are read; a pattern that matches no known topic stands for itself."""
        found = set(schema["topics"])
        for pattern in schema["patterns"]:
            found |= {topic for topic in known if matches(pattern, topic)} or {pattern}
        return found

    before, after = topics(old), topics(new)
    verdicts: dict[str, SourceVerdict] = {}
    for topic in sorted(before | after):
        both = topic in before and topic in after
        verdicts[topic] = "continues" if both else "new" if topic in after else "gone"
    return tuple(verdicts.items())
