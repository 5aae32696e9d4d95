"""Lengthens times: with minutes instead of ms, Kafka Streams' stores drop whole segments."""

from __future__ import annotations

import random
import re
from typing import Any

from millrace_model.scenarios import Scenario

DURATIONS = {
    "size", "advance", "grace", "difference", "gap", "start", "before", "after", "limit",
    "retention", "history_retention", "window_size",
}  # fmt: skip


def lengthen(scenario: Scenario, factor: int, chance: random.Random) -> None:
    """Multiply all durations and timestamps in place; some timestamps are off by a millisecond."""
    for node in scenario["topology"]["nodes"]:
        node["params"] = {
            name: _expression(text, factor) if name == "timestamp" else _longer(name, text, factor)
            for name, text in node["params"].items()
        }
    for line in scenario["inputs"]:
        if "timestamp" in line:
            missed = chance.choice([0, 0, 0, 0, -1, 1])
            line["timestamp"] = max(0, line["timestamp"] * factor + missed)


def _longer(name: str, value: Any, factor: int) -> Any:
    if isinstance(value, dict):
        return {inner: _longer(inner, each, factor) for inner, each in value.items()}
    if name not in DURATIONS:
        return value
    if isinstance(value, int):
        return value * factor
    text = re.fullmatch(r"(-?\d+) ms", str(value))
    return f"{int(text[1]) * factor} ms" if text else value


def _expression(text: str, factor: int) -> str:
    """A timestamp expression with its milliseconds multiplied."""
    text = re.sub(r"(?<=[*-] )5$", str(5 * factor), text)
    return re.sub(r"\+ (value(\.n)?)$", rf"+ \1 * {factor}", text)
