"""Random valid scenarios, without expected results. The same seed gives the same scenarios.

A scenario is a random graph of 2-12 operators over all kinds but the Processor API, with type-correct expressions, few keys,
timestamps at the edges of the windows, nulls, about a fifth of the records out of order, and ties.
Left out on purpose: two paths from one input record to one join, merge or cogroup where one of them crosses a repartition
topic (a race in a real cluster), and order-sensitive operators behind outputs whose order is not defined.
"""

import random
from typing import Any

from oracle.fuzz.scenario import Scenario
from oracle.fuzz.wide import Wide


def scenario(seed: int, number: int, *, wide: bool = False) -> dict[str, Any]:
    """One scenario; `number` counts from 0 within a seed.

    `wide`: by the wider generator, whose scenarios are called W1-0000; R1-0000 stays what it was.
    """
    letter = "W" if wide else "R"
    generator: Any = Wide if wide else Scenario
    chance = random.Random(f"{'W' if wide else ''}{seed}/{number}")  # noqa: S311
    made: dict[str, Any] = generator(chance, f"{letter}{seed}-{number:04d}").json()
    return made
