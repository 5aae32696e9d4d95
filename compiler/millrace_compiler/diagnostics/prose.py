"""The form of a message: what was found, and a hint.

``message`` states what was found, ``hint`` what to do about it. Names in braces are filled in with
the facts of the diagnostic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Prose:
    """Message, hint and severity of one code."""

    message: str
    hint: str
    severity: Literal["error", "warning", "difference"] = "error"
    #: the first step that an error prevents
    first_blocked: Literal["compile", "deploy"] = "compile"

    @property
    def blocks(self) -> Literal["compile", "deploy"] | None:
        """The step that this diagnostic prevents, if any."""
        return self.first_blocked if self.severity == "error" else None
