"""Disjoint sets that are joined one by one."""

from __future__ import annotations

from collections.abc import Iterable


class UnionFind:
    """Disjoint sets of items; one of its items identifies each set."""

    def __init__(self, items: Iterable[str]) -> None:
        self._parent = {item: item for item in items}

    def find(self, item: str) -> str:
        """The item that identifies the set."""
        while self._parent[item] != item:
            self._parent[item] = self._parent[self._parent[item]]
            item = self._parent[item]
        return item

    def unite(self, a: str, b: str) -> None:
        """Join the sets of two items; that of `a` identifies both."""
        self._parent[self.find(b)] = self.find(a)
