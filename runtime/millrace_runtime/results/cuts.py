"""How input lines are cut into micro-batches."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Sequence

from millrace_runtime.errors import MillraceError
from millrace_runtime.results.lines import Line


@dataclasses.dataclass(frozen=True)
class Cut:
    """How input lines are cut into micro-batches: `each`, `all`, or at random, by a seed."""

    kind: str = "each"
    seed: int = 0

    @classmethod
    def parse(cls, text: str) -> Cut:
        """Parse `each`, `all` or `random:SEED`. Raises MillraceError `cut_unknown`."""
        if text in ("each", "all"):
            return cls(text)
        kind, _, seed = text.partition(":")
        if kind != "random" or not seed.lstrip("-").isdigit():
            raise MillraceError(
                "cut_unknown", f"Unknown cut {text!r}: use each, all or random:SEED."
            )
        return cls(kind, int(seed))

    def batches(self, lines: Sequence[tuple[int, Line]]) -> Iterator[list[tuple[int, Line]]]:
        """Yield the lines in batches; a line that is not a record is a batch of its own."""
        chance = random.Random(self.seed)  # noqa: S311 - cuts are to be repeatable
        batch: list[tuple[int, Line]] = []
        for number, line in lines:
            alone = "topic" not in line
            ends = self.kind == "each" or (self.kind == "random" and chance.random() < 0.4)
            if batch and (alone or ends):
                yield batch
                batch = []
            batch.append((number, line))
            if alone:
                yield batch
                batch = []
        if batch:
            yield batch
