"""``merge``: merges several streams into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from millrace_compiler.declarations.calls import Call, Input
from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope, no_questions
from millrace_compiler.declarations.ports import InPort
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.operators.stateless.base import STREAM_OUT
from millrace_compiler.operators.tables.updates import same_types, updates
from millrace_compiler.parameters.summaries import Sentence


class Merge(Operator):
    "Merges several streams into one."

    kind = "merge"
    title = "Merge"
    icon = "arrow-merge"
    place = 9
    help = (
        "Forwards all records of all inputs in the order in which they are processed. The inputs "
        "must have equal types; their partitions need not match."
    )
    guarantee = "Records of all inputs, in the order in which they are processed."
    why = "Spark's union reads one input after the other; the stream task keeps record order."
    synonyms = ("union", "combine", "concat", "join streams", "合并")
    in_ports = (InPort("in", ("stream", "table"), many=True),)
    out_ports = STREAM_OUT
    forwards_all = True

    def infer(self, scope: Scope) -> Inference:
        ports = [updates(port) for port in scope.all()]
        same_types(scope, ports)
        first = ports[0]
        changed = any(port.key_changed for port in ports)
        window = first.window if all(p.window == first.window for p in ports) else None
        inner = first.inner_key if window else None
        out = replace(first, key_changed=changed, window=window, inner_key=inner)
        return no_questions({"out": out})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {"out": to.step("merge", *to.parents_of_merge())}

    def words(self) -> list[Call]:
        others = self.incoming["in"] - 1
        return [Call("merge", tuple(Input("in", index + 1) for index in range(others)))]

    def summary(self) -> Sentence:
        return Sentence("all records of its inputs")
