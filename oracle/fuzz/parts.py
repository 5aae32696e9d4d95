"""Constants and classes that all generators use."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

from millrace_model.documents import DocumentEdge, DocumentNode

KEYS = ["a", "b", "c", "d"]
STRUCT = "STRUCT<g: STRING, n: BIGINT, s: STRING>"

Role = Literal["stream", "table", "global"]
SourceRole = Literal["stream", "table", "global_table"]
#: A type, or that of a windowed key: ("windowed", type of the key).
Type = str | tuple[str, str]
#: Columns of a record with their types.
Columns = dict[str, Type]
Choice = TypeVar("Choice")
#: An output and the port of the input that it is connected to.
Ins = Sequence[tuple["Out", str]]


@dataclasses.dataclass(eq=False)
class Out:
    """An output port: its types, and the properties that decide which steps can follow."""

    node: str
    role: Role
    key: str
    value: str
    port: str = "out"
    #: the topics that its records are from
    topics: frozenset[str] = frozenset()
    #: internal topics between these and the port
    hops: int = 0
    #: whether the key has changed since
    rekeyed: bool = False
    #: kind of the windows of the key
    window: str | None = None
    grace: int = 0
    #: whether each result comes once
    final: bool = False
    #: history retention of a versioned table
    versioned: int = 0
    #: whether the order within an input line is not defined
    unordered: bool = False
    #: node that made the windows
    windowset: str | None = None
    cogrouped: bool = False
    #: number of edges from this port
    used: int = 0

    def like(self, node: str, **change: Any) -> Out:
        """The output of another node, which is the same but for the changes."""
        return dataclasses.replace(self, **{"node": node, "port": "out", "used": 0, **change})


class Generator:
    """What all parts of a generator draw with and add to."""

    def __init__(self, rng: random.Random, name: str) -> None:
        self.r, self.name = rng, name
        self.nodes: list[DocumentNode] = []
        self.edges: list[DocumentEdge] = []
        self.outs: list[Out] = []
        #: role, key and value of each topic
        self.topics: dict[str, tuple[SourceRole, str, str]] = {}
        self.compare = "sequence"
        #: whether results depend on how lines are cut into micro-batches
        self.each_only = False
        self.serial: dict[str, int] = {}
        #: whether some expressions may fail
        self.risky = rng.random() < 0.06

    def one(self, choices: Sequence[Choice], weights: Sequence[int] | None = None) -> Choice:
        """Draw one of several kinds. Other generators override this to choose a specific one."""
        return self.r.choices(choices, weights)[0] if weights else self.r.choice(choices)

    def choose(self, test: Callable[[Out], bool]) -> Out | None:
        """Draw an output that fits, mostly one that nothing is connected to."""
        found = [o for o in self.outs if test(o)]
        if not found:
            return None
        return self.r.choices(found, [4 if o.used == 0 else 1 for o in found])[0]

    def race(self, a: Out, b: Out, hop_a: int = 0, hop_b: int = 0) -> bool:
        """Whether records of one topic reach both, one of them through an internal topic."""
        return bool(a.topics & b.topics) and (a.hops + hop_a > 0 or b.hops + hop_b > 0)

    def add(self, o: Out) -> None:
        """Add an output for later steps."""
        self.outs.append(o)
