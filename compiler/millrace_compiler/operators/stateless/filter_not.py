"""``filter_not``: drops the records for which a predicate is true."""

from __future__ import annotations

from millrace_compiler.operators.stateless.filter import Filter
from millrace_compiler.parameters.parameters import Expression
from millrace_compiler.parameters.summaries import Sentence


def negated(predicate: str) -> str:
    """An expression that is true if a predicate is false or null."""
    return f"NOT coalesce({predicate}, false)"


class FilterNot(Filter):
    """Drops records for which the predicate is true."""

    kind = "filter_not"
    title = "Filter not"
    positional = ("predicate",)
    icon = "filter-off"
    place = 2
    help = (
        "Drops records for which the predicate is true; null counts as false, so the record is "
        "kept. On a table, a dropped row is deleted from the result [KT3]."
    )
    guarantee = "Keeps the order of records [ST1]."
    synonyms = ("drop", "exclude", "reject", "remove", "except", "排除")

    predicate = Expression(
        "Predicate", "A record is dropped if this is true; null counts as false.", expects="BOOLEAN"
    )

    def kept(self) -> str:
        """The condition for records that are kept."""
        return negated(self.predicate)

    def summary(self) -> Sentence:
        if self.is_rule:
            return Sentence("expects none with {predicate}", predicate=self.predicate)
        return Sentence("drops {predicate}", predicate=self.predicate)
