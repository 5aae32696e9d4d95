"""``store.versioned``: the history of each key."""

from __future__ import annotations

from millrace_compiler.operators.stores.base import StoreNode
from millrace_compiler.parameters import Duration
from millrace_compiler.ports import OutPort


class StoreVersioned(StoreNode):
    """All values of each key by time, kept for a while."""

    kind = "store.versioned"
    title = "Versioned store"
    icon = "history"
    place = 4
    help = (
        "Keeps what each key was at which time, so that a join can look up the value as of the "
        "record's time [VS2]. A record older than the history is refused [VS1]."
    )
    synonyms = ("history", "temporal", "as of", "point in time", "版本存储")
    rules = ("VS1", "VS2", "VS3")
    out_ports = (OutPort("out", "same"),)
    stateful = True

    history_retention = Duration(
        "History", "How far back in time values can be looked up and updated."
    )

    def summary(self) -> str:
        return f"{self.name}: history of each key"
