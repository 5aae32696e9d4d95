"""Translated functions give what Python gives, for random functions and records."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings

from tests.runtime.functions_kit import (
    Case,
    characters,
    differences,
    functions,
    records,
)

pytestmark = [pytest.mark.spark, pytest.mark.slow]

#: MILLRACE_FUNCTIONS=3000 compares 113,580 results of 1,893 random functions that are translated
FUNCTIONS = int(os.environ.get("MILLRACE_FUNCTIONS", "150"))
SEED = int(os.environ.get("MILLRACE_FUNCTIONS_SEED", "1"))
RECORDS, AT_ONCE = 60, 20

#: functions as people write them; each is translated
PLAIN = """
lambda key, value: value["i"] > LIMIT
lambda key, value: value is not None and value["i"] is not None and value["i"] > LIMIT
lambda value: {**value, "d": value["d"] * value["i"], "big": value["i"] > 100}
lambda value: f"{value['s']}-{value.i} {value.b} {value.at}"
lambda value: value["s"].strip().upper()
lambda value: value.t.lower()
lambda value: value["s"] or "unknown"
lambda value: value.d > 10.5 and value.s in OPEN
lambda value: value.d >= value.e or value.d == value.e
lambda value: value.d <= value.e and value.d != value.e
lambda value: value.i % 7 + value.j // 3
lambda value: value.l % 7
lambda value: value.l // 1000
lambda value: value.l + 1
lambda value: value.l * value.l > 5
lambda value: value.i * value.j - value.l
lambda value: value.i / value.j
lambda value: value.d / value.e
lambda value: float(value.l) / 7
lambda value: max(value.i, value.j, 0) - min(value.l, 1)
lambda value: abs(value.l)
lambda value: -value.i
lambda value: [w.lower() for w in value.s.split() if w != "a"]
lambda value: value.s.split(",")
lambda value: value.s.split("a.b")
lambda value: value.s.split("\\\\")
lambda value: [t for t in value.ts if t is not None and t.startswith("a")]
lambda value: [n * 2 for n in value.ns if n]
lambda value: sum(n for n in value.ns if n is not None)
lambda value: any(t == "a" for t in value.ts)
lambda value: all(n > 0 for n in value.ns)
lambda value: value["m"]["a"]
lambda value: value.m.get("b")
lambda value: "a" in value.m
lambda value: "a" in value.s
lambda value: value.ts[0]
lambda value: value.s[0] + value.s[-1] + value.s[1:3] + value.s[2:] + value.s[-2:] + value.s[:2]
lambda value: value.s.replace("a", value.t)
lambda value: value.s.find("a")
lambda value: value.s.removeprefix("a")
lambda value: len(value.s) + len(value.ns) + len(value.m)
lambda value: ", ".join(value.s.split())
lambda value: value.get("s", "x")
lambda value: value.o.name if value.o else None
lambda value: None if value is None else value.o
lambda value: 0 < value.i <= LIMIT
lambda value: not value.b
lambda value: value.b == True
lambda value: bool(value.ts)
lambda value: str(value.b) + str(value.i)
lambda value: value.at + 60 * 60 * 1000 > 0
lambda value: value.i in (1, 2, None)
lambda value: value.s not in {"a", ""}
lambda value: "high" if value.i > 100 else "middle" if value.i > 10 else "low"
lambda value: PRICES[value.s] * value.d
lambda value: PRICES.get(value.s)
lambda value: COUNTS.get(value.s, 0) + 1
lambda value: STATES[value.i] + value.s + STATES.get(value.l, "other")
lambda value: value.s in PRICES and value.t not in COUNTS
lambda value: value.m.get(value.s, 0)
lambda value: value.s in value.m
lambda value: max(value.d, value.e) - min(value.d, 0.5, value.e)
lambda value: max(value.s, value.t) + min(value.s, "b")
lambda value: (value.ns + [value.i])[-3:]
lambda value: [value.s] + value.ts[1:]
lambda value: value.ns[:-2] + value.ns[1:2]
lambda value: value.s in value.ts or value.i in value.ns
lambda value: value.ts if value.s in value.ts else value.ts + [value.s]
lambda key, value: key
lambda key, value: key + ":" + value["s"]
""".strip().splitlines()

#: functions that change a value and return it
CHANGES = [
    "def f(value):\n    value['d'] = value['d'] * 2\n    value['j'] += value.i\n    return value\n",
    "def f(value):\n    if value.b:\n        value['s'] = value.t\n    return value\n",
    "def f(value):\n    value['size'] = len(value.s)\n    return value\n",
]
#: functions that return maps, as aggregators do
MAPS = """
lambda value: {}
lambda value: {"a": value.i, "b": 2}
lambda value: {**value.m, value.s: value.i}
lambda value: {**value.m, "a": value.m.get("a", 0) + 1 if value.b else 0, "z": 1}
lambda key, value: {**value.m, key: value.m.get(key, 0) or 7}
""".strip().splitlines()


@pytest.fixture(scope="module")
def session() -> Any:
    """The session of the test driver, which other tests share."""
    from millrace_runtime.testing.sessions import session

    return session()


def different(session: Any, cases: list[Case], number: int) -> list[str]:
    """Return what differs, a few functions in each of Spark's jobs."""
    found: list[str] = []
    rows = records(number, RECORDS)
    for first in range(0, len(cases), AT_ONCE):
        found += differences(session, cases[first : first + AT_ONCE], rows)
    return found


def test_functions_as_people_write_them_are_translated_exactly(session: Any) -> None:
    cases = [Case.of(text) for text in PLAIN + CHANGES]
    cases += [Case.of(text, expects="MAP<STRING, INT>") for text in MAPS]
    texts = PLAIN + CHANGES + MAPS
    assert [text for text, case in zip(texts, cases, strict=True) if case is None] == []
    assert different(session, [case for case in cases if case is not None], SEED) == []


def test_random_functions_are_translated_exactly(session: Any) -> None:
    texts: list[str] = []

    @seed(SEED)
    @settings(
        max_examples=FUNCTIONS,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(functions())
    def collect(text: str) -> None:
        texts.append(text)

    collect()
    made = [
        Case.of(text, truth=number % 2 == 0) for number, text in enumerate(dict.fromkeys(texts))
    ]
    cases = [case for case in made if case is not None]
    assert len(cases) > FUNCTIONS / 2
    assert different(session, cases, SEED) == []


def test_case_changes_as_in_python_but_for_six_letters_of_unicode_16(session: Any) -> None:
    # Spark's library knows their case of Unicode 16, Python before 3.14 does not. The last two only
    # matter beside a final sigma.
    letters = {"\u019b", "\u0264", "\ua7d3", "\ua7d5", "\u0295", "\U0001171e"}
    assert characters(session) <= letters
