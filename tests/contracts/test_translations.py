"""Translations of the compiler's sentences use the same facts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from millrace_compiler import compile_document
from millrace_compiler.declarations.operator import registry
from millrace_compiler.diagnostics.messages import SENTENCES
from millrace_runtime.results import differences

from launcher import places
from tests.compiler.test_mutations import GuessingAnalyzer

CHINESE = places.REPOSITORY / "frontend" / "src" / "ui" / "zh" / "diagnostics.ts"
HELP = CHINESE.with_name("help.ts")
DIFFERENCES = CHINESE.with_name("differences.ts")


def translated() -> dict[str, tuple[str, str]]:
    text = CHINESE.read_text(encoding="utf-8")
    literal = r'("(?:[^"\\]|\\.)*")'
    found = re.findall(rf"(\w+): \[\s*{literal},\s*{literal},?\s*\]", text)
    return {code: (json.loads(message), json.loads(hint)) for code, message, hint in found}


def literals(text: str) -> set[str]:
    return {json.loads(each) for each in re.findall(r'"(?:[^"\\]|\\.)*"', text)}


def facts(text: str) -> set[str]:
    return set(re.findall(r"(?<!\{)\{(\w+)\}(?!\})", text))


def test_each_guarantee_and_its_reason_is_in_chinese() -> None:
    found = HELP.read_text(encoding="utf-8")
    for cls in registry().values():
        for text in (cls.guarantee, cls.why):
            shown = re.sub(r"\s*\[[A-Z]{2}(-?\d+[a-z]?)?\]", "", text)
            assert f"{json.dumps(shown, ensure_ascii=False)}:" in found, (cls.kind, shown)


def test_sentences_in_chinese_belong_to_a_code_and_name_its_facts() -> None:
    found = translated()
    assert found.keys() == SENTENCES.keys()
    for code, (message, hint) in found.items():
        assert facts(message) == facts(SENTENCES[code].message), code
        assert facts(hint) == facts(SENTENCES[code].hint), code


def test_differences_from_an_expected_result_are_in_chinese() -> None:
    text = DIFFERENCES.read_text(encoding="utf-8")
    found = dict(re.findall(r'^  (\w+): "(.*)",$', text, re.MULTILINE))
    named = {code: facts(sentence) for code, sentence in differences.SENTENCES.items()}
    assert {code: facts(sentence) for code, sentence in found.items()} == named


def test_words_in_sentences_of_the_plain_dialect_are_translated() -> None:
    folder = places.REPOSITORY / "compiler" / "millrace_compiler" / "plain"
    code = "\n".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    used = re.findall(r'\b(?:what|instead)="([^"]+)"', code)
    used += [each for call in re.findall(r"drops_nulls\((.*)\)", code) for each in literals(call)]
    assert len(set(used)) > 15
    words = CHINESE.read_text(encoding="utf-8").partition("export const words")[2]
    translated = set(re.findall(r"^  (\w+):", words, re.MULTILINE)) | literals(words)
    assert set(used) <= translated


def forms_of(sentence: Any) -> Iterator[str]:
    """The form of a sentence, and those of the sentences in it."""
    if isinstance(sentence, dict):
        yield sentence["form"]
        for value in sentence["values"].values():
            yield from forms_of(value)


def test_summaries_of_nodes_are_in_chinese() -> None:
    text = CHINESE.with_name("sentences.ts").read_text(encoding="utf-8")
    table = dict(re.findall(r'^  "(.*)":\s*"(.*)",$', text, re.MULTILINE))
    assert all(facts(form) == facts(chinese) for form, chinese in table.items())
    found: set[str] = set()
    for path in sorted((places.REPOSITORY / "tests" / "golden").glob("*/topology.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        answer: Any = compile_document(document, GuessingAnalyzer()).to_json()
        found |= {form for each in answer["summary"].values() for form in forms_of(each)}
    assert len(found) > 30
    assert found - table.keys() == {"{class_name}"}
