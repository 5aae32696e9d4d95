"""Names that people give: one line of text, also in the subjects of mails."""

from __future__ import annotations

import unicodedata
from typing import Any

from rest_framework import serializers

#: Unicode categories of control characters and of line and paragraph separators
_NOT_IN_LINES = {"Cc", "Zl", "Zp"}
LONGEST_NAME = 150


class NameField(serializers.CharField):
    """A name. Refuses control characters, which would break lines, headers and logs."""

    default_error_messages = {
        "control": "Control characters and line breaks are not allowed in a name."
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": LONGEST_NAME, **options})

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if one_line(text) != text:
            self.fail("control")
        return text


def one_line(text: str) -> str:
    """Return the text with a space in place of each control character and line break."""
    return "".join(" " if unicodedata.category(each) in _NOT_IN_LINES else each for each in text)
