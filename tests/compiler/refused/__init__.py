"""Graphs that are refused: a sentence, the document, and code, node and parameter of the error."""

from __future__ import annotations

from tests.compiler.refused.graphs import GRAPHS
from tests.compiler.refused.kinds import KINDS
from tests.compiler.refused.made import (
    CODE,
    KEEP,
    Refused,
    join,
    process,
    window,
    with_store,
)
from tests.compiler.refused.stores import STORES
from tests.compiler.refused.types import TYPES
from tests.compiler.refused.windows import WINDOWS

__all__ = ["CODE", "KEEP", "REFUSED", "join", "process", "window", "with_store"]

REFUSED: Refused = {**GRAPHS, **TYPES, **WINDOWS, **STORES, **KINDS}
