"""Random valid scenarios, without expected results. The same seed gives the same scenarios.

A scenario is a random graph of 2-12 operators, with type-correct expressions, few keys,
timestamps at the edges of the windows, nulls, about a fifth of the records out of order, and ties.
Left out on purpose: two paths from one input record to one join, merge or cogroup where one of them crosses a repartition
topic (a race in a real cluster), and order-sensitive operators behind outputs whose order is not defined.
"""

import random
from typing import Any

from oracle.fuzz.scenario import Scenario
from oracle.fuzz.times import lengthen
from oracle.fuzz.wide import Wide


def scenario(seed: int, number: int, *, wide: bool = False, times: int = 1) -> dict[str, Any]:
    """One scenario; `number` counts from 0 within a seed.

    `wide`: by the wider generator, which draws every kind of node. Its scenarios are called
    X1-0000; those called W came from one without processors of several topics. R1-0000 stays what
    it was. `times`: the same with times that are so many times longer, called R1x1000-0000.
    """
    generator: Any = Wide if wide else Scenario
    chance = random.Random(f"{'X' if wide else ''}{seed}/{number}")  # noqa: S311
    name = f"{series(seed, wide=wide, times=times)}-{number:04d}"
    made: dict[str, Any] = generator(chance, name).json()
    if times != 1:
        lengthen(made, times, chance)
    return made


def series(seed: int, *, wide: bool, times: int = 1) -> str:
    """What the names of a seed's scenarios begin with."""
    return f"{'X' if wide else 'R'}{seed}" + (f"x{times}" if times != 1 else "")
