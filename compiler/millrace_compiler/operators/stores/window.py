"""``store.window``: stores values by key and window."""

from __future__ import annotations

from millrace_compiler.declarations.ports import OutPort
from millrace_compiler.documents.durations import show_duration
from millrace_compiler.operators.stores.base import StoreNode
from millrace_compiler.parameters.parameters import Duration, Flag, optional
from millrace_compiler.parameters.summaries import Sentence


class StoreWindow(StoreNode):
    "Stores values by key and window start for a retention time."

    kind = "store.window"
    title = "Window store"
    icon = "calendar-stats"
    place = 2
    help = (
        "Names the state of a windowed aggregation, or provides a store by key and time for "
        "processors. Rows older than the retention are removed."
    )
    guarantee = "The rows as of the last micro-batch, within the retention [SS3]."
    synonyms = ("windowed", "time", "retention", "materialized", "窗口存储")
    rules = ("SS2", "SS3")
    out_ports = (OutPort("out", "same"),)
    stateful = True
    for_processors = ("key_type", "value_type", "retention", "window_size")

    retention = optional(
        Duration(
            "Retention",
            "How long rows are kept, in stream time; at least window size plus grace period, "
            "which is the default.",
        )
    )
    window_size = optional(Duration("Window size", "Size of the windows. Required for processors."))
    retain_duplicates = Flag(
        "Keep duplicates", "Keep several values for the same key and window start.", default=False
    )

    def summary(self) -> Sentence:
        if self.retention is None:
            return Sentence("{name}: values per key and window", name=self.name)
        time = show_duration(self.retention)
        return Sentence(
            "{name}: kept {time} · values per key and window", name=self.name, time=time
        )
