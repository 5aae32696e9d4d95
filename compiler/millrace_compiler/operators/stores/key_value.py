"""``store.key_value``: stores one value for each key."""

from __future__ import annotations

from millrace_compiler.declarations.ports import OutPort
from millrace_compiler.operators.stores.base import StoreNode
from millrace_compiler.parameters.summaries import Sentence


class StoreKeyValue(StoreNode):
    "Stores the latest value of each key."

    kind = "store.key_value"
    title = "Key-value store"
    icon = "database"
    place = 1
    help = (
        "Names the state of an operator, or provides a store for processors: get, put, "
        "put_if_absent, delete, range, prefix_scan, all. Iterates in the order of the serialized "
        "keys."
    )
    guarantee = "The rows as of the last micro-batch, in the order of the serialized keys [SS2]."
    synonyms = ("state store", "map", "rocksdb", "materialized", "queryable", "状态存储")
    rules = ("SS2", "SS3")
    out_ports = (OutPort("out", "same"),)
    stateful = True

    def summary(self) -> Sentence:
        return Sentence("{name}: one value per key", name=self.name)
