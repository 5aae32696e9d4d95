"""Golden jobs: each folder has a topology and what the compiler makes of it.

`./millrace golden [NAME]` writes them anew; a human reads the difference.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from millrace_compiler import Analyzer, compile_document
from millrace_compiler.compilation.describe import description_of

HERE = Path(__file__).parent
WRITING = os.environ.get("MILLRACE_WRITE_GOLDENS") == "1"
NAMES = sorted(path.parent.name for path in HERE.glob("*/topology.json"))


@pytest.mark.parametrize("name", NAMES)
def test_golden_job_and_description_are_as_written(name: str, analyzer: Analyzer) -> None:
    folder = HERE / name
    document = json.loads((folder / "topology.json").read_text("utf-8"))
    compilation = compile_document(document, analyzer)
    assert [d.to_text() for d in compilation.diagnostics] == []
    assert compilation.code is not None
    texts = {"job.py": compilation.code["job.py"], "describe.txt": description_of(compilation).text}
    for file, text in texts.items():
        if WRITING:
            (folder / file).write_text(text, "utf-8")
        assert (folder / file).read_text("utf-8") == text


def test_every_golden_folder_has_a_topology() -> None:
    folders = {path.name for path in HERE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(NAMES)
