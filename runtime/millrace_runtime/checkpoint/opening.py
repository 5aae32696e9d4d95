"""Opening of state that another version may have written: comparison, decisions and notes.

The state schema of a job comes from its topology, that of a checkpoint from its notes. Both are
compared before anything is read. A store whose rows cannot be carried over stops the start, unless
a decision about it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from millrace_compiler.state.state_changes import (
    StoreChange,
    compare,
    convertible,
    type_text,
    value_types,
)
from millrace_model.notes import Notes
from millrace_model.state import (
    Conversion,
    StateSchema,
    StoreConversion,
    StoreDrops,
    StoreSchema,
)

from millrace_runtime.errors import MillraceError

#: Both empty the store; `drop` is for a store that the new version does not have.
DECISIONS = ("reset", "drop")
#: New values are computed by a SQL expression over `old`.
CONVERT = "convert:"
#: Steps that compute a table from another one, and have rows only if they have a store.
_DERIVED = ("filter", "filter_not", "map_values")


def decisions_of(texts: Sequence[str]) -> dict[str, str]:
    """Parse decisions by store: `ID=reset`, `ID=drop` and `ID=convert:EXPRESSION`.

    Raises MillraceError `option_invalid`.
    """
    found = {}
    for text in texts:
        store, sign, decision = text.partition("=")
        converts = decision.startswith(CONVERT) and decision.removeprefix(CONVERT).strip()
        if not sign or not (decision in DECISIONS or converts):
            raise MillraceError(
                "option_invalid",
                "--decide must be STORE=reset or STORE=drop, or STORE=convert:EXPRESSION with an "
                f"expression over old, found {text!r}.",
            )
        found[store] = decision
    return found


class StateOpening:
    """The state schema of a job that starts, and the changes that apply to its checkpoint.

    Raises MillraceError `state_undecided` if a store is lost or incompatible and not listed in
    `decisions`, and `state_not_convertible` for a conversion that is not possible.
    """

    def __init__(
        self,
        schema: StateSchema,
        notes: Notes,
        decisions: Mapping[str, str],
    ) -> None:
        self.schema = schema
        self.changes: list[StoreDrops] = list(notes.get("changes") or [])
        before = notes.get("state")
        self.changed = before is not None and before != schema
        self._write: Callable[[], None] | None = None
        if before is None:
            return
        change = compare(before, schema)
        undecided = [store for store in change.undecided if store.id not in decisions]
        if undecided:
            raise MillraceError(
                "state_undecided",
                _refusal(undecided),
                node=undecided[0].id,
                facts={"missing": ", ".join(store.id for store in undecided)},
            )
        converted = [s for s in change.undecided if decisions[s.id].startswith(CONVERT)]
        dropped = [store for store in change.undecided if store not in converted]
        drop = sorted({name for each in dropped for name in self._prefixes(each.id, notes)})
        convert: list[StoreConversion] = [
            {"store": name, **each, "expression": decisions[store.id].removeprefix(CONVERT)}
            for store in converted
            for each in conversions(store)
            for name in sorted(self._prefixes(store.id, notes))
        ]
        if change.undecided:
            made: StoreDrops = {"drop": drop}
            if convert:
                made["convert"] = convert
            self.changes.append(made)

    def _prefixes(self, store: str, notes: Notes) -> set[str]:
        """Return the names of a store's rows: its id, and ids of operator steps.

        Nodes on other levels keep copies of a table, and of tables that are derived from it.
        """
        found, tables = {store}, set[str]()
        for each in notes.get("nodes") or []:
            kept = each["params"].get("store")
            if each.get("node") == store:
                found.add(each["id"])
            parents = [parent for parent, _ in each.get("parents", [])]
            found |= {f"{each['id']}$copy{n}" for n, of in enumerate(parents) if of in tables}
            derived = each["op"] in _DERIVED and not kept and tables.intersection(parents)
            if store in (each.get("node"), kept and kept.get("node")) or derived:
                tables.add(each["id"])
        return found

    def waits(self, write: Callable[[], None]) -> None:
        """Set the function that writes the notes of the checkpoint after the first batch."""
        self._write = write

    @property
    def waiting(self) -> bool:
        """Whether notes are to be written after the first batch."""
        return self._write is not None

    def done(self) -> None:
        """Write waiting notes. A batch was committed, so the checkpoint is this job's now."""
        if self._write is not None:
            self._write()
            self._write = None


def conversions(store: StoreChange) -> list[Conversion]:
    """Return the types, before and after, of the values that an expression can convert.

    Raises MillraceError `state_not_convertible` if more than the value types changed.
    """
    if not convertible(store):
        raise MillraceError(
            "state_not_convertible",
            f"The store {store.id} cannot be converted: {_cause(store)}. Reset it.",
            node=store.id,
        )
    return [{"from": old, "to": new} for old, new in value_types(store) if old != new]


def _refusal(stores: Sequence[StoreChange]) -> str:
    lines = "; ".join(f"{store.id}: {_cause(store)}" for store in stores)
    decide = " ".join(f"--decide {store.id}=reset" for store in stores)
    return (
        f"The state in the checkpoint does not fit the job. {lines}. "
        f"Nothing was read or changed. To start with these stores empty, start it with {decide}; "
        "values of another type can be converted with STORE=convert:EXPRESSION, over old."
    )


def _cause(store: StoreChange) -> str:
    old, new = store.old, store.new
    if new is None or old is None:
        return "the job no longer has this store; its rows would be lost"
    causes = []
    if "store_kind_changed" in store.reasons:
        causes.append(f"it was {_kind(old)}, now it is {_kind(new)}")
    if "key_type_changed" in store.reasons:
        causes.append(f"its keys were {type_text(old['key'])}, now {type_text(new['key'])}")
    if "value_type_changed" in store.reasons:
        for part in old["values"].keys() & new["values"].keys():
            before, after = type_text(old["values"][part]), type_text(new["values"][part])
            if before != after:
                causes.append(f"its values were {before}, now {after}")
    if "windows_changed" in store.reasons:
        causes.append(f"its windows were {_windows(old)}, now {_windows(new)}")
    return ", ".join(causes)


def _kind(store: StoreSchema) -> str:
    if store["tasks"] is None:
        return "a global table"
    return f"a {store['kind']} store" + (" with duplicates" if store.get("duplicates") else "")


def _windows(store: StoreSchema) -> str:
    windows = store["windows"]
    if windows is None:
        return "none"
    parts = [f"{name} {value} ms" for name, value in windows.items() if name != "type"]
    return ", ".join([windows.get("type", "by time"), *parts])
