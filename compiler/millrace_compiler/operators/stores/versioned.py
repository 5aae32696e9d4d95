"""``store.versioned``: stores the history of each key."""

from __future__ import annotations

from millrace_compiler.declarations.ports import OutPort
from millrace_compiler.documents.durations import show_duration
from millrace_compiler.operators.stores.base import StoreNode
from millrace_compiler.parameters.parameters import Duration
from millrace_compiler.parameters.summaries import Sentence


class StoreVersioned(StoreNode):
    "Stores the history of each key's values for a retention time."

    kind = "store.versioned"
    title = "Versioned store"
    icon = "history"
    place = 4
    help = (
        "Keeps the values of each key with their timestamps, so that a join can look up the value "
        "as of a record's timestamp [VS2]. Records older than the history are dropped [VS1]."
    )
    guarantee = "The versions within the history retention, looked up by timestamp [VS1][VS2]."
    synonyms = ("history", "temporal", "as of", "point in time", "版本存储")
    rules = ("VS1", "VS2", "VS3")
    out_ports = (OutPort("out", "same"),)
    stateful = True

    history_retention = Duration("History", "How far back values can be looked up and updated.")

    def summary(self) -> Sentence:
        time = show_duration(self.history_retention)
        return Sentence("{name}: kept {time} · history of each key", name=self.name, time=time)
