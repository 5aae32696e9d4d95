"""``store.window``: values by key and window."""

from __future__ import annotations

from millrace_compiler.operators.stores.base import StoreNode
from millrace_compiler.parameters import Duration, Flag, optional
from millrace_compiler.ports import OutPort


class StoreWindow(StoreNode):
    """Values by key and start of window, kept for a while."""

    kind = "store.window"
    title = "Window store"
    icon = "calendar-stats"
    place = 2
    help = (
        "Names the state of a windowed aggregation, or gives processors a store by key and time. "
        "Rows older than the retention are gone."
    )
    synonyms = ("windowed", "time", "retention", "materialized", "窗口存储")
    rules = ("SS2", "SS3")
    out_ports = (OutPort("out", "same"),)
    stateful = True
    for_processors = ("key_type", "value_type", "retention", "window_size")

    retention = optional(
        Duration(
            "Retention",
            "How long rows are kept, by stream time; at least window and grace. "
            "Without it, exactly these.",
            required=False,
        )
    )
    window_size = optional(
        Duration("Window size", "Length of the windows; needed for processors.", required=False)
    )
    retain_duplicates = Flag(
        "Keep duplicates", "Keep several values of one key and start.", default=False
    )

    def summary(self) -> str:
        return f"{self.name}: values per key and window"
