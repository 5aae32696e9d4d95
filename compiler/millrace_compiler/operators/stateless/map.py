"""``map``: a new key and a new value."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.lowering import Handle, NodeLowering
from millrace_compiler.operator import Inference, Operator, Scope
from millrace_compiler.operators.stateless.base import STREAM_IN, STREAM_OUT
from millrace_compiler.parameters import Expression


class Map(Operator):
    """Gives each record a new key and a new value."""

    kind = "map"
    title = "Map"
    icon = "transform"
    place = 3
    help = (
        "One record in, one record out, with key and value made by expressions. The key counts as "
        "changed, so a grouping or join after it shuffles [RP1]. Where only the value changes, "
        "“Map values” spares the shuffle."
    )
    synonyms = ("transform", "project", "select", "convert", "映射")
    rules = ("RP1",)
    in_ports = STREAM_IN
    out_ports = STREAM_OUT
    changes_key = True
    plain = True

    key = Expression("Key", "The new key.")
    value = Expression("Value", "The new value.")

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        columns = port.record()
        key, value = yield [
            scope.ask("key", self.key, columns),
            scope.ask("value", self.value, columns),
        ]
        return {"out": port.rekeyed(key, value)}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        handle = to.step(
            "map", to.input(), key=self.key, value=self.value, key_changed=True, plain=True
        )
        return {"out": handle}

    def summary(self) -> str:
        return f"key {self.key}, value {self.value}"
