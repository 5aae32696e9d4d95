"""Durations without a unit are milliseconds, and one that looks like seconds gets a warning."""

from __future__ import annotations

import pytest

from tests.compiler.kit import compiled, line, node


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (3600, [("duration_unit", "3.6", "1 hour")]),
        (300, [("duration_unit", "0.3", "5 minutes")]),
        (86_400, [("duration_unit", "86.4", "1 day")]),
        ("3600 ms", []),
        ("1 hour", []),
        (10, []),
        (1000, []),
        (3_600_000, []),
    ],
)
def test_a_number_that_is_round_in_seconds_gets_a_warning(
    size: object, told: list[tuple[str, str, str]]
) -> None:
    window = {"type": "tumbling", "size": size}
    found = compiled(line(node("count", "count", window=window), topics={"in": 1}))
    assert found.ok
    assert [(d.code, d.data["seconds"], d.data["meant"]) for d in found.diagnostics] == told
    assert all(d.severity == "warning" for d in found.diagnostics)


def test_a_text_without_a_unit_is_refused_with_the_units() -> None:
    window = {"type": "tumbling", "size": "3600"}
    found = compiled(line(node("count", "count", window=window)))
    [diagnostic] = [d for d in found.diagnostics if d.severity == "error"]
    assert diagnostic.code == "duration"
    assert "“5 seconds”" in diagnostic.hint
