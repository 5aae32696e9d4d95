"""Processors as a type checker sees them: contexts, records and stores have types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from launcher import places

pytestmark = pytest.mark.slow

EXAMPLE = places.REPOSITORY / "examples" / "typed_processors.py"


def checked(program: Path, cache: Path) -> str:
    command = [
        sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}",
        "--follow-imports=silent", "--ignore-missing-imports", str(program),
    ]  # fmt: skip
    environment = {"MYPYPATH": "compiler:runtime", "PATH": ""}
    done = subprocess.run(
        command, cwd=places.REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_mypy_accepts_the_example_and_finds_faults_in_it(tmp_path: Path) -> None:
    assert "Success: no issues found" in checked(EXAMPLE, tmp_path / "cache")
    text = EXAMPLE.read_text("utf-8")
    faults = {
        "self.rates.put(record.key, record.value.rate)": 'self.rates.put(1, "x")',
        "self.customers.get(record.key)": "self.customers.put(record.key, {})",
        "large.to(": "large.too(",
    }
    for right, wrong in faults.items():
        assert right in text
        text = text.replace(right, wrong)
    program = tmp_path / "faulty.py"
    program.write_text(text, "utf-8")
    found = checked(program, tmp_path / "cache")
    assert 'incompatible type "int"; expected "str"' in found
    assert '"ReadOnlyKeyValueStore[str, Struct]" has no attribute "put"' in found
    assert '"Stream" has no attribute "too"' in found
