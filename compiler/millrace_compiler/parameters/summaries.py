"""Sentences that describe nodes: a form, by which translations are found, and its values."""

from __future__ import annotations

import re
from collections.abc import Mapping

from millrace_model.plans import SentenceJson

_NAME = re.compile(r"\{(\w+)\}")


class Sentence:
    """A form with names in braces, such as ``counts by {key}``, and a value for each name.

    A value is text of the document, or another sentence. Values of names that begin with `time`
    are durations, and that of `type` is a type of join, which are words of the language.
    """

    def __init__(self, form: str, /, **values: str | Sentence) -> None:
        self.form = form
        self.values: Mapping[str, str | Sentence] = values

    def __str__(self) -> str:
        return _NAME.sub(lambda name: str(self.values[name[1]]), self.form)

    def to_json(self) -> SentenceJson:
        """The form and the values."""
        values: dict[str, str | SentenceJson] = {
            name: value.to_json() if isinstance(value, Sentence) else value
            for name, value in self.values.items()
        }
        return {"form": self.form, "values": values}
