"""Names of nodes: those that a program need not say, because its calls give them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_OTHER = re.compile(r"[^a-z0-9_-]+")
_FIRST = re.compile(r"^[^a-z]+")
_LONGEST = 180


def slug(text: str) -> str:
    """The text as a node's id; empty where nothing is left of it."""
    return _FIRST.sub("", _OTHER.sub("-", text.lower())).strip("-")[:_LONGEST]


def base_of(kind: str, topics: Sequence[str] = ()) -> str:
    """What a node is called by default: a source by its topic, others by what they do."""
    family, _, rest = kind.partition(".")
    if family == "source":
        return (slug(topics[0]) if topics else "") or "source"
    if family == "sink":
        return "out" if rest == "topic" else rest
    return family.replace("_", "-")


class Identities:
    """Gives out the ids of one topology, in the order in which its nodes are added."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def default(self, base: str) -> str:
        """The id that a node gets by itself: ``filter``, ``filter-2``, ..."""
        name, serial = base, 1
        while name in self.used:
            serial += 1
            name = f"{base}-{serial}"
        return name

    def default_of_store(self, name: str) -> str:
        """The same for a store: its name, or with ``-store`` where a node is called so."""
        base = slug(name) or "store"
        return self.default(f"{base}-store" if base in self.used else base)

    def take(self, id_: str) -> str:
        """Notes that an id is used. Raises ``ValueError`` where it is already."""
        if id_ in self.used:
            raise ValueError(f"the name {id_!r} is used twice")
        self.used.add(id_)
        return id_
