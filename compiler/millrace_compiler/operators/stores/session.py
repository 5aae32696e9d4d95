"""``store.session``: stores values by key and session."""

from __future__ import annotations

from millrace_compiler.declarations.ports import OutPort
from millrace_compiler.documents.durations import show_duration
from millrace_compiler.operators.stores.base import StoreNode
from millrace_compiler.parameters.parameters import Duration, optional
from millrace_compiler.parameters.summaries import Sentence


class StoreSession(StoreNode):
    "Stores values by key and session window for a retention time."

    kind = "store.session"
    title = "Session store"
    icon = "calendar-time"
    place = 3
    help = (
        "Names the state of an aggregation over session windows, or provides a session store for "
        "processors: put, remove, fetch, find_sessions."
    )
    guarantee = "The sessions as of the last micro-batch, within the retention [SS3]."
    synonyms = ("sessions", "activity", "retention", "materialized", "会话存储")
    rules = ("SS2", "SS3")
    out_ports = (OutPort("out", "same"),)
    stateful = True
    for_processors = ("key_type", "value_type", "retention")

    retention = optional(
        Duration(
            "Retention",
            "How long sessions are kept, in stream time; at least gap plus grace period, which is "
            "the default.",
        )
    )

    def summary(self) -> Sentence:
        if self.retention is None:
            return Sentence("{name}: values per key and session", name=self.name)
        time = show_duration(self.retention)
        return Sentence(
            "{name}: kept {time} · values per key and session", name=self.name, time=time
        )
