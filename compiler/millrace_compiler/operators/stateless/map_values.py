"""``map_values``: a new value under the same key."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.lowering import Handle, NodeLowering
from millrace_compiler.operator import Inference, Scope
from millrace_compiler.operators.stateless.base import StreamOrTable
from millrace_compiler.parameters import Expression


class MapValues(StreamOrTable):
    """Gives each record a new value and leaves the key alone."""

    kind = "map_values"
    title = "Map values"
    icon = "replace"
    place = 4
    help = (
        "One record in, one record out; the key stays, so no shuffle follows. On a table a delete "
        "stays a delete and the expression is not asked [KT4]."
    )
    synonyms = ("transform", "project", "compute", "derive", "enrich", "convert", "计算")
    rules = ("KT4",)

    value = Expression("Value", "The new value.")

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        [value] = yield [scope.ask("value", self.value, port.record())]
        return {"out": self.result(scope, port.with_value(value))}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {"out": self.lower_over(to, self.value)}

    def summary(self) -> str:
        return f"value {self.value}"
