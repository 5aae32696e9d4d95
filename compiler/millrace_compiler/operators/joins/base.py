"""The base class of joins."""

from __future__ import annotations

from millrace_compiler.declarations.calls import Call, Input, call
from millrace_compiler.declarations.operator import Ask, Operator, Scope
from millrace_compiler.declarations.ports import Port
from millrace_compiler.parameters.parameters import Expression
from millrace_compiler.types.types import TIMESTAMP, DataType

Column = tuple[str, DataType | None]
INNER_LEFT = ("inner", "left")
ALL_TYPES = ("inner", "left", "outer")
TYPE_HELP = (
    "inner: only pairs; left: every left record, with null where nothing matches; outer: both."
)
JOINER_HELP = (
    "The result, an expression over `key`, `left` and `right` (the two values) and `timestamp`."
)


_METHODS = {"inner": "join", "left": "left_join", "outer": "outer_join"}


class Join(Operator):
    """Base class of joins of a left and a right input."""

    joiner = Expression("Joiner", JOINER_HELP, columns="join")

    def ask_joiner(self, scope: Scope, left: Port, right: Port, *more: Column) -> Ask:
        """The question about the joiner; ``more``: further columns that it sees."""
        columns = (
            ("key", left.key),
            ("left", left.value),
            ("right", right.value),
            ("timestamp", TIMESTAMP),
            *more,
        )
        return scope.ask("joiner", self.joiner, columns)

    def joining(self, *args: object, **keywords: object) -> list[Call]:
        """The call, such as ``join(right, ..., joiner=...)``, named by the type of the join."""
        method = _METHODS[str(self.values["type"])]
        made = call(method, Input("right"), *args, **keywords, joiner=self.joiner)
        return [self.with_store(made)]
