"""Messages name things as the page shows them, and never by their names in the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from millrace_compiler import RecordedAnalyzer, catalog, compile_document
from millrace_compiler.catalog.rules import RULES
from millrace_compiler.declarations.operator import registry
from millrace_compiler.diagnostics.messages import SENTENCES
from millrace_compiler.diagnostics.messages.plain import PLAIN

from tests.compiler.kit import document

#: `topic_pattern`, `store.key_value`
INTERNAL = re.compile(r"\b(?:[a-z]+(?:_[a-z]+)+|(?:store|source|sink|join)\.[a-z_]+)\b")
ANALYZER = RecordedAnalyzer(Path(__file__).parents[1] / "recorded_analysis.json")
ZH = Path(__file__).parents[3] / "frontend" / "src" / "ui" / "zh" / "diagnostics.ts"


#: functions of SQL and methods of stores, which people type
FUNCTIONS = {"try_cast", "put_if_absent", "prefix_scan", "find_sessions"}


def named(text: str) -> list[str]:
    """Return the names of the code in a text, except for facts and functions."""
    found = INTERNAL.findall(re.sub(r"\{\w+\}", "", text))
    return [name for name in found if name not in FUNCTIONS]


def messages(kind: str) -> list[str]:
    """Compile one node without parameters, and return all messages and hints."""
    made = compile_document(document([{"id": "n", "kind": kind, "params": {}}], []), ANALYZER)
    return [text for each in made.diagnostics for text in (each.message, each.hint or "")]


@pytest.mark.parametrize("code", sorted(SENTENCES.keys() - PLAIN.keys()))
def test_no_message_or_hint_has_a_name_of_the_code(code: str) -> None:
    assert named(SENTENCES[code].message) == []
    assert named(SENTENCES[code].hint) == []


def test_no_chinese_message_or_hint_has_a_name_of_the_code() -> None:
    text = ZH.read_text(encoding="utf-8").split("export const words")[0]
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    assert len(strings) > 300
    assert [each for each in strings if named(each)] == []


def test_no_help_of_the_page_has_a_name_of_the_code() -> None:
    made: dict[str, Any] = dict(catalog())
    described = [*made["kinds"], *made["formats"], *made["settings"]]
    described += [parameter for kind in made["kinds"] for parameter in kind["parameters"]]
    helps = [each[name] for each in described for name in ("help", "description") if name in each]
    helps += [text for cls in registry().values() for text in (cls.guarantee, cls.why)]
    assert len(helps) > 200
    assert [each for each in [*helps, *RULES.values()] if named(each)] == []


@pytest.mark.parametrize("kind", registry())
def test_a_node_without_parameters_is_described_by_titles(kind: str) -> None:
    found = messages(kind)
    assert [each for each in found if named(each)] == []


def test_what_excludes_each_other_is_named_by_its_titles() -> None:
    message = "Exactly one of “Topics” or “Topic pattern” must be set."
    assert message in messages("source.stream")
