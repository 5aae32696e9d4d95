"""Default ids of nodes, which a program need not contain because its calls imply them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_OTHER = re.compile(r"[^a-z0-9_-]+")
_FIRST = re.compile(r"^[^a-z]+")
_LONGEST = 180


def slug(text: str) -> str:
    """The text as a node's id; empty if it has no usable character."""
    return _FIRST.sub("", _OTHER.sub("-", text.lower())).strip("-")[:_LONGEST]


def base_of(kind: str, topics: Sequence[str] = ()) -> str:
    """The default name of a node: a source's topic, otherwise derived from the kind."""
    family, _, rest = kind.partition(".")
    if family == "source":
        return (slug(topics[0]) if topics else "") or "source"
    if family == "sink":
        return "out" if rest == "topic" else rest
    return family.replace("_", "-")


class Identities:
    """Assigns the ids of one topology, in the order in which its nodes are added."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def default(self, base: str) -> str:
        """The default id of a node: ``filter``, ``filter-2``, ..."""
        name, serial = base, 1
        while name in self.used:
            serial += 1
            name = f"{base}-{serial}"
        return name

    def default_of_store(self, name: str) -> str:
        """The default id of a store: its name, with ``-store`` if a node has that id."""
        base = slug(name) or "store"
        return self.default(f"{base}-store" if base in self.used else base)

    def take(self, id_: str) -> str:
        """Reserves an id. Raises ``ValueError`` if it is already used."""
        if id_ in self.used:
            raise ValueError(f"the name {id_!r} is used twice")
        self.used.add(id_)
        return id_
