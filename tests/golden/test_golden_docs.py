"""`docs/code.md` shows the golden programs as they are."""

from __future__ import annotations

import os
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "code.md"
BLOCK = re.compile(r"<!-- (golden|plain): (\w+) -->\n```python\n(.*?)```\n", re.DOTALL)


def body(dialect: str, name: str) -> str:
    """A golden program without its docstring, and without the lines that every program has."""
    if dialect == "plain":
        text = (HERE / name / "plain.py").read_text("utf-8")
        return text[text.index("def topology(") : text.index("\n\ndef main(")]
    text = (HERE / name / "job.py").read_text("utf-8")
    return text[text.index("from millrace_runtime") : text.index("\n\nif __name__")]


def _written(found: re.Match[str]) -> str:
    dialect, name, _ = found.groups()
    return f"<!-- {dialect}: {name} -->\n```python\n{body(dialect, name)}```\n"


def test_golden_programs_stand_in_the_page_of_the_code_as_they_are() -> None:
    page = PAGE.read_text("utf-8")
    if os.environ.get("MILLRACE_WRITE_GOLDENS") == "1":
        page = BLOCK.sub(_written, page)
        PAGE.write_text(page, "utf-8")
    found = {(dialect, name): text for dialect, name, text in BLOCK.findall(page)}
    assert [dialect for dialect, _ in found].count("golden") == 5
    assert [dialect for dialect, _ in found].count("plain") == 5
    assert found == {each: body(*each) for each in found}
