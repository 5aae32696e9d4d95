"""What names mean in a part of a function, and the text of a part in messages."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace

from millrace_runtime.functions.source import Source
from millrace_runtime.functions.terms import Facts, NotTranslated, Term


@dataclass
class Scope:
    """What names mean in a part of a function: locals by name, and the function that it is in."""

    source: Source
    names: Mapping[str, Term]
    facts: Facts
    #: how many conditions decide whether this part is evaluated
    level: int = 0
    depth: int = 0

    def having(self, facts: Facts) -> Scope:
        return replace(self, facts=self.facts | facts)

    def only_if(self, facts: Facts) -> Scope:
        """A part that is evaluated under a condition, in which these texts are not NULL."""
        return replace(self, facts=self.facts | facts, level=self.level + 1)

    def naming(self, name: str, term: Term) -> Scope:
        return replace(self, names={**self.names, name: term}, facts=self.facts | term.after)


def where_of(node: ast.AST) -> str:
    """The text of a part of a function, for messages."""
    shown = ast.unparse(node).replace("'", '"')
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def unknown(node: ast.AST) -> NotTranslated:
    """The error of a form of Python that is not translated."""
    shown = ast.unparse(node).splitlines()[0][:60]
    return NotTranslated(f"{shown} is not a form that is translated")
