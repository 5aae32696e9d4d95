"""The compiler's sentences in the page's other languages name the same facts."""

from __future__ import annotations

import json
import re

from millrace_compiler.prose import PROSE

from launcher import places

CHINESE = places.REPOSITORY / "frontend" / "src" / "ui" / "zh" / "diagnostics.ts"
#: what people who draw a topology see most, all of which are translated
USUAL = (
    "cycle", "input_missing", "role", "parameter_missing", "duration", "expression_syntax",
    "expression_column", "expression_function", "expression_type", "not_copartitioned",
    "store_unused", "no_nodes", "code_syntax",
)  # fmt: skip


def translated() -> dict[str, tuple[str, str]]:
    text = CHINESE.read_text(encoding="utf-8")
    literal = r'("(?:[^"\\]|\\.)*")'
    found = re.findall(rf"(\w+): \[\s*{literal},\s*{literal},?\s*\]", text)
    return {code: (json.loads(message), json.loads(hint)) for code, message, hint in found}


def facts(text: str) -> set[str]:
    return set(re.findall(r"(?<!\{)\{(\w+)\}(?!\})", text))


def test_sentences_in_chinese_belong_to_a_code_and_name_its_facts() -> None:
    found = translated()
    assert len(found) > 80
    assert set(USUAL) <= found.keys()
    for code, (message, hint) in found.items():
        assert facts(message) == facts(PROSE[code].message), code
        assert facts(hint) == facts(PROSE[code].hint), code
