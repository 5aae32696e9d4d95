"""The files of a new operator: valid Python, in the right family, never overwriting a file."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest
from millrace_compiler.declarations.operator import Operator
from millrace_compiler.parameters.summaries import Sentence

from checks import new_operator
from launcher.console import Problem


@pytest.fixture
def operators(tmp_path: Path) -> Path:
    (tmp_path / "operators" / "stateless").mkdir(parents=True)
    (tmp_path / "operators" / "stateless" / "__init__.py").write_text("")
    return tmp_path / "operators"


def test_a_declaration_and_a_test_are_written(tmp_path: Path, operators: Path) -> None:
    written = new_operator.create("stateless/take_every", operators, tmp_path / "tests")
    assert [path.name for path in written] == ["take_every.py", "test_take_every.py"]
    name = "millrace_compiler.operators.stateless.take_every"
    found = runpy.run_path(str(written[0]), run_name=name)
    assert issubclass(found["TakeEvery"], Operator)
    assert found[found["TakeEvery"].summary.__annotations__["return"]] is Sentence
    ast.parse(written[1].read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["nowhere/sample", "stateless/Sample", "stateless/", "sample"])
def test_a_name_that_will_not_do_is_refused(tmp_path: Path, operators: Path, name: str) -> None:
    with pytest.raises(Problem):
        new_operator.create(name, operators, tmp_path / "tests")


def test_what_exists_is_never_overwritten(tmp_path: Path, operators: Path) -> None:
    new_operator.create("stateless/sample", operators, tmp_path / "tests")
    with pytest.raises(Problem, match="already exists"):
        new_operator.create("stateless/sample", operators, tmp_path / "tests")
