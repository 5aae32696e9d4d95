"""Golden programs of the plain dialect: folders that have a `plain.py`, and `plain.txt` beside it.

`plain.txt` has what differs from Kafka Streams, node and code. `./millrace golden [NAME]` writes
both anew; a human reads the difference.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from millrace_compiler import Analyzer, compile_document

from tests.golden.test_golden import HERE, WRITING

NAMES = sorted(path.parent.name for path in HERE.glob("*/plain.py"))


@pytest.mark.parametrize("name", NAMES)
def test_golden_plain_program_and_its_differences_are_as_written(
    name: str, analyzer: Analyzer
) -> None:
    folder: Path = HERE / name
    document = json.loads((folder / "topology.json").read_text("utf-8"))
    made = compile_document(document, analyzer, dialect="plain").require()
    differences = "".join(f"{each['node']}: {each['code']}\n" for each in made.differences)
    texts = {"plain.py": (made.code or {})["job.py"], "plain.txt": differences}
    for file, text in texts.items():
        if WRITING:
            (folder / file).write_text(text, "utf-8")
        assert (folder / file).read_text("utf-8") == text
