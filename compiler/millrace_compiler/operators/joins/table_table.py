"""``join.table_table``: joins two tables by their keys."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.calling import Calling
from millrace_compiler.declarations.calls import Call
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope
from millrace_compiler.declarations.ports import InPort, OutPort, Port
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.joins.base import ALL_TYPES, TYPE_HELP, Join
from millrace_compiler.operators.stores.fit import check_store
from millrace_compiler.operators.tables.updates import same_keys
from millrace_compiler.parameters.parameters import Choice
from millrace_compiler.parameters.summaries import Sentence


class JoinTableTable(Join, Calling):
    "Joins two tables by their keys."

    kind = "join.table_table"
    title = "Join tables"
    icon = "layout-columns"
    place = 4
    help = (
        "An update on either side recomputes the row of its key [TT1]. The tables must be "
        "co-partitioned [TT6]."
    )
    guarantee = "Every update of either side recomputes the row, including deletes [TT1]."
    why = "Spark cannot join two changing tables without windows."
    synonyms = ("combine", "merge rows", "primary key", "表连接")
    rules = ("TT1", "TT2", "TT3", "TT4", "TT5", "TT6")
    in_ports = (InPort("left", ("table",)), InPort("right", ("table",)))
    out_ports = (OutPort("out", "table"),)
    takes_store = ("store.key_value", "store.versioned")
    first = ("type", "joiner")
    stateful = True
    makes_records = True

    type = Choice("Type", TYPE_HELP, ALL_TYPES, default="inner")

    def infer(self, scope: Scope) -> Inference:
        left, right = scope.one("left"), scope.one("right")
        same_keys(scope, left, right, "right")
        [value] = yield [self.ask_joiner(scope, left, right)]
        out = Port("table", left.key, value, False, left.window, left.inner_key, self.history)
        check_store(scope, self.takes_store, out)
        return {"out": out}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        left, right = to.input("left"), to.input("right")
        to.together(left, right)
        handle = to.step(
            "join_table",
            to.lookup(left),
            to.lookup(right),
            type=self.type,
            joiner=self.joiner,
            store=self.store_json(),
            role="table",
            keeps=self.keeps(),
        )
        return {"out": handle if self.store else handle.looked_up_in(left, right)}

    def words(self) -> list[Call]:
        return self.joining()

    def summary(self) -> Sentence:
        return Sentence("{type} join by key", type=self.type)
