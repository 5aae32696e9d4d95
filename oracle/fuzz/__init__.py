"""Generates random valid scenarios without expected results, always the same ones for a seed.

A scenario is a random graph of 2-12 operators, with type-correct expressions, few keys, timestamps
at window boundaries, nulls, about a fifth of the records out of order, and equal timestamps.
Excluded on purpose: two paths from one input record to one join, merge or cogroup if one of them
crosses a repartition topic (a race in a real cluster), and order-sensitive operators after outputs
without a defined order.
"""

import random

from millrace_model.scenarios import Scenario as ScenarioJson

from oracle.fuzz.scenario import Scenario
from oracle.fuzz.times import lengthen
from oracle.fuzz.wide import Wide


def scenario(seed: int, number: int, *, wide: bool = False, times: int = 1) -> ScenarioJson:
    """Generate a scenario; `number` counts from 0 within a seed.

    `wide`: use the wider generator, which draws every kind of node. Its scenarios are named
    X1-0000; those named W came from an earlier one without processors of several topics. The R
    scenarios never change. `times`: multiply all times by this factor; the names become
    R1x1000-0000.
    """
    generator = Wide if wide else Scenario
    chance = random.Random(f"{'X' if wide else ''}{seed}/{number}")  # noqa: S311
    name = f"{series(seed, wide=wide, times=times)}-{number:04d}"
    made = generator(chance, name).json()
    if times != 1:
        lengthen(made, times, chance)
    return made


def series(seed: int, *, wide: bool, times: int = 1) -> str:
    """The prefix of the names of a seed's scenarios."""
    return f"{'X' if wide else 'R'}{seed}" + (f"x{times}" if times != 1 else "")
