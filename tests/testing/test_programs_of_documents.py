"""Every complete program of the documents and examples opens on the canvas, and starts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from millrace_runtime.program import load_program
from millrace_runtime.testing import TopologyTestDriver
from millrace_runtime.testing.sessions import analyzer_of, session

from cli.round_trip import round_trip

ROOT = Path(__file__).parents[2]


def programs() -> Iterator[tuple[str, str]]:
    """Return the name and the text of each program; a block has the page and its line as name."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = page.read_text(encoding="utf-8")
        for block in re.finditer(r"^```python[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            if "\ntopology = Topology(" in block[1] and "from millrace_runtime import" in block[1]:
                line = text.count("\n", 0, block.start()) + 1
                yield f"{page.relative_to(ROOT)}:{line}", block[1]
    for file in sorted((ROOT / "examples").rglob("*.py")):
        yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")


PROGRAMS = dict(programs())


def test_the_documents_have_programs() -> None:
    assert len(PROGRAMS) >= 39


@pytest.mark.spark
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_of_the_documents_opens_and_starts(
    name: str, topology_test_driver: Callable[..., TopologyTestDriver], tmp_path: Path
) -> None:
    file = tmp_path / "job.py"
    file.write_text(PROGRAMS[name], encoding="utf-8")
    topology = load_program(file)
    document = topology.document()
    assert round_trip(document, analyzer_of(session())) == []
    topology_test_driver(document)
