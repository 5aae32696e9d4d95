"""The tests of testing, handlers and processors in docs pass with the wheel's pytest plugin."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
ROOT = PAGE.parents[1]


def test_each_python_test_of_the_page_stands_beside_a_java_one() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert len(re.findall(r"```java\n[^`]+```\n\n```python test\n", text)) == 5


@pytest.mark.spark
@pytest.mark.slow
def test_the_tests_of_the_pages_pass(tmp_path: Path) -> None:
    text = "".join(
        PAGE.with_name(f"{name}.md").read_text(encoding="utf-8")
        for name in ("testing", "handlers", "processors")
    )
    blocks = re.findall(r"```python test\n(.*?)```", text, re.DOTALL)
    for number, block in enumerate(blocks):
        (tmp_path / f"test_example_{number}.py").write_text(block, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "millrace_runtime.testing.plugin",
         "-p", "no:randomly", "-p", "no:django", "-p", "no:cacheprovider", "-c", os.devnull,
         "--rootdir", str(tmp_path), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'runtime'}:{ROOT / 'compiler'}"},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "8 passed" in done.stdout
