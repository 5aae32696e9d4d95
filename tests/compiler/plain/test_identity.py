"""Which versions of a plain program can continue each other's checkpoints."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import Analyzer, compile_document
from millrace_compiler.plain.parts import PARTS

from tests.compiler.test_mutations import GuessingAnalyzer

GOLDEN = Path(__file__).parents[2] / "golden"


def identity(raw: dict[str, Any], analyzer: Analyzer) -> str:
    made = compile_document(raw, analyzer, dialect="plain").require()
    assert made.identity is not None
    return made.identity


def relabel(raw: dict[str, Any]) -> None:
    for number, node in enumerate(raw["nodes"]):
        node |= {"label": f"Another name {number}", "description": "Other words."}
    raw["description"] = "About something else."


@pytest.mark.parametrize(
    "name", ["aggregate_table", "join_foreign_key", "purchases", "process", "sessions_suppress"]
)
def test_labels_and_comments_are_no_part_of_it(name: str, analyzer: Analyzer) -> None:
    raw = json.loads((GOLDEN / name / "topology.json").read_text("utf-8"))
    other = json.loads(json.dumps(raw))
    relabel(other)
    code = [compile_document(each, analyzer, dialect="plain").code for each in (raw, other)]
    assert code[0] != code[1]
    assert identity(raw, analyzer) == identity(other, analyzer)


@pytest.mark.parametrize(
    ("node", "changed", "same"),
    [
        ("near", {"predicate": "value.user_city <> value.item_city"}, True),
        ("out", {"topic": "elsewhere"}, True),
        ("orders", {"start": "latest"}, True),
        ("orders", {"topics": ["others"]}, False),
        ("per-hour", {"group_by": {"key": "value.item"}}, False),
        ("per-hour", {"window": {"type": "tumbling", "size": "2 hours"}}, False),
        ("per-hour", {"emit": "window_close"}, False),
        # The input of the stateful step has another type, so the type of its values may differ too.
        ("with-item", {"joiner": "array(left.item)"}, False),
    ],
)
def test_only_sources_and_steps_with_state_are_part_of_it(
    node: str, changed: dict[str, Any], same: bool
) -> None:
    raw = json.loads((GOLDEN / "purchases" / "topology.json").read_text("utf-8"))
    raw["topics"]["others"] = {"partitions": 3}
    analyzer = GuessingAnalyzer()
    before = identity(raw, analyzer)
    next(each for each in raw["nodes"] if each["id"] == node)["params"] |= changed
    assert (identity(raw, analyzer) == before) is same


def test_code_of_steps_with_state_is_part_of_it_and_its_words_are_not(
    analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = json.loads((GOLDEN / "join_foreign_key" / "topology.json").read_text("utf-8"))
    part = PARTS["foreign_key_join"]
    before = identity(raw, analyzer)

    def with_text(changed: str) -> str:
        assert changed != part.text
        monkeypatch.setitem(PARTS, "foreign_key_join", replace(part, text=changed))
        return identity(raw, analyzer)

    words = re.sub(r'"""', '"""In other words: ', part.text, count=1)
    assert with_text(f"# A comment.\n{words}") == before
    assert with_text(part.text + "\n\nMORE = 1\n") != before
