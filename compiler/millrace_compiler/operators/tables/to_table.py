"""``to_table``: converts a stream to a table."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope, no_questions
from millrace_compiler.declarations.ports import OutPort, Port
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import STREAM_IN
from millrace_compiler.operators.stores.fit import check_store
from millrace_compiler.parameters.summaries import Sentence


class ToTable(Operator):
    "Turns a stream into a table: the latest value for each key."

    kind = "to_table"
    title = "To table"
    icon = "table-plus"
    place = 1
    help = (
        "Each record becomes the new row of its key; a null value deletes the row. If the key was "
        "changed before, the stream is repartitioned first [RP1]. Records with a null key are "
        "dropped."
    )
    guarantee = "Every update in order, with the previous row [KT1]."
    why = "Spark has no table that changes within a micro-batch."
    synonyms = ("latest", "dedupe", "distinct", "last value", "upsert", "去重", "最新值")
    rules = ("KT1", "KT2", "RP1")
    in_ports = STREAM_IN
    out_ports = (OutPort("out", "table"),)
    takes_store = ("store.key_value", "store.versioned")
    unnamed_store = "on_demand"
    stateful = True

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        out = Port("table", port.key, port.value, False, port.window, port.inner_key, self.history)
        check_store(scope, self.takes_store, out)
        return no_questions({"out": out})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        stream = to.keyed(to.input(), self.id)
        handle = to.step(
            "to_table",
            stream,
            role="table",
            store=self.store_json(),
            keeps=self.keeps(),
        )
        return {"out": handle}

    def summary(self) -> Sentence:
        return Sentence("latest value of each key")
