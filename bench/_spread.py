"""Several measurements of the same thing: the median, with the lowest and the highest."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median of some figures, and between which two all of them are."""

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Spread:
        """Return the spread of figures, of which there is at least one."""
        return cls(statistics.median(figures), min(figures), max(figures))

    def show(self, digits: int) -> str:
        """Return text: `12.1 (11.8-13.0)`, or the median alone if it is the only one."""
        one = f"{self.median:,.{digits}f}"
        if self.lowest == self.highest:
            return one
        return f"{one} ({self.lowest:,.{digits}f}-{self.highest:,.{digits}f})"
