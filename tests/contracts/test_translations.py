"""Translations of the compiler's sentences use the same facts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from millrace_compiler import compile_document
from millrace_compiler.catalog.catalog import catalog
from millrace_compiler.declarations.operator import registry
from millrace_compiler.diagnostics.messages import SENTENCES
from millrace_runtime.results import differences

from launcher import places
from tests.compiler.test_mutations import GuessingAnalyzer

CHINESE = places.REPOSITORY / "frontend" / "src" / "ui" / "zh" / "diagnostics.ts"
DIFFERENCES = CHINESE.with_name("differences.ts")
#: a longer text has an id, as in `frontend/src/ui/i18n.ts`
LONGEST_KEY = 60


def translated() -> dict[str, tuple[str, str]]:
    text = CHINESE.read_text(encoding="utf-8")
    literal = r'("(?:[^"\\]|\\.)*")'
    found = re.findall(rf"(\w+): \[\s*{literal},\s*{literal},?\s*\]", text)
    return {code: (json.loads(message), json.loads(hint)) for code, message, hint in found}


def literals(text: str) -> set[str]:
    return {json.loads(each) for each in re.findall(r'"(?:[^"\\]|\\.)*"', text)}


def facts(text: str) -> set[str]:
    return set(re.findall(r"(?<!\{)\{(\w+)\}(?!\})", text))


def uncited(text: str) -> str:
    return re.sub(r"\s*\[[A-Z]{2}(-?\d+[a-z]?)?\]", "", text)


def texts_of_operators() -> Iterator[tuple[str, list[str]]]:
    """Each text of the catalog and of plans, with the ids that it may have if it is long."""
    made: Any = catalog()
    yield from ((each["title"], []) for each in (*made["families"], *made["formats"]))
    for each in made["formats"]:
        yield each["description"], [f"formats.{each['format']}"]
    for each in made["settings"]:
        yield from texts_of_parameter(each, [f"settings.{each['name']}"])
    for each in made["kinds"]:
        cls, owners = registry()[each["kind"]], (each["kind"], each["family"])
        yield each["title"], []
        for part, text in (
            ("description", each["description"]),
            ("help", each["help"]),
            ("guarantee", cls.guarantee),
            ("why", cls.why),
        ):
            yield text, [f"{owner}.{part}" for owner in owners]
        for row in each["parameters"]:
            yield from texts_of_parameter(row, [f"{o}.parameters.{row['name']}" for o in owners])


def texts_of_parameter(row: Any, ids: list[str]) -> Iterator[tuple[str, list[str]]]:
    yield from ((each, []) for each in (row["title"], *(row["choices"] or ())))
    if row["unit"] is not None:
        yield row["unit"], []
    yield row["help"], [*ids, f"parameters.{row['name']}"]


def chinese_of_operators(part: str) -> dict[str, str]:
    """The tables beside the operators and parameters; no key is in two of them."""
    found: dict[str, str] = {}
    for path in sorted((places.REPOSITORY / "compiler" / "millrace_compiler").rglob("zh.json")):
        table = json.loads(path.read_text(encoding="utf-8")).get(part, {})
        assert not found.keys() & table.keys(), path
        found |= table
    return found


def test_texts_of_operators_and_parameters_have_one_chinese_text_each() -> None:
    table = chinese_of_operators("texts")
    meant: dict[str, str] = {}
    for text, ids in texts_of_operators():
        shown = uncited(text)
        keys = [shown] if len(shown) <= LONGEST_KEY else [each for each in ids if each in table]
        assert keys, (shown, ids)
        assert keys[0] in table, shown
        assert meant.setdefault(keys[0], shown) == shown, keys[0]
    assert table.keys() == meant.keys()
    assert all(facts(table[key]) == facts(shown) for key, shown in meant.items())


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
    table = chinese_of_operators("sentences")
    assert all(facts(form) == facts(chinese) for form, chinese in table.items())
    found: set[str] = set()
    for path in sorted((places.REPOSITORY / "tests" / "golden").glob("*/topology.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        answer: Any = compile_document(document, GuessingAnalyzer()).to_json()
        found |= {form for each in answer["summary"].values() for form in forms_of(each)}
    assert len(found) > 30
    assert found - table.keys() == {"{class_name}"}
