"""Settings with Python: functions that handle errors, and modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from millrace_compiler.compilation.compilation import compile_document
from millrace_compiler.graphs.kinds import runs_only_expressions, runs_python
from millrace_compiler.parameters.modules import imported
from millrace_runtime.program import load_program

from tests.compiler.kit import OneTypeAnalyzer, compiled, line, node

STRING = {"format": "string"}
HANDLE = "def handle(record, error):\n    return Response.resume()\n"


def document(**settings: Any) -> Any:
    params = {"topics": ["in"], "key": STRING, "value": STRING}
    return {
        "format": "millrace.topology/1",
        "name": "t",
        "settings": settings,
        "nodes": [
            {"id": "in", "kind": "source.stream", "params": params},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [{"source": "in", "target": "out"}],
    }


@pytest.mark.parametrize(
    ("settings", "code", "path"),
    [
        ({"processing_handler": "function"}, "parameter_missing", "processing_function"),
        ({"production_handler": "dead_letter"}, "choice", "production_handler"),
        ({"processing_function": "x = 1\n"}, "handler_function", "processing_function"),
        ({"processing_function": "def f(a):\n    pass\n"}, "handler_arguments",
         "processing_function"),
        ({"processing_function": "def f(:\n"}, "code_syntax", "processing_function"),
        ({"modules": {"json": ""}}, "module_taken", "modules.json"),
        ({"modules": {"job": ""}}, "module_taken", "modules.job"),
        ({"modules": {"../a": ""}}, "parameter_type", "modules"),
        ({"modules": {"a": "def f(:\n"}}, "code_syntax", "modules.a"),
        ({"modules": {"a": 1}}, "parameter_type", "modules.a"),
        ({"modules": {f"m{n}": "" for n in range(101)}}, "out_of_bounds", "modules"),
    ],
)  # fmt: skip
def test_what_cannot_run_is_refused(settings: dict[str, Any], code: str, path: str) -> None:
    [found] = compiled(document(**settings)).diagnostics
    assert (found.code, found.path or found.parameter) == (code, path)


@pytest.mark.parametrize(
    ("settings", "argument"),
    [
        ({"processing_handler": "function", "processing_function": HANDLE}, "handle"),
        # The import could fail, so the function has a file of its own.
        ({"processing_handler": "function", "processing_function": f"import numpy\n\n\n{HANDLE}",
          "production_handler": "continue"}, "'processing_errors.py:handle'"),
        ({"modules": {"a": "import b.c\n", "b.c": "X = 1\n", "d": ""}},
         "modules=['a', 'b.c', 'd']"),
        ({"production_handler": "function", "modules": {"a": "X = 1\n", "d": ""},
          "production_function": f"import a\n\n\n{HANDLE}"}, "modules=['d']"),
    ],
)  # fmt: skip
def test_a_program_has_the_functions_and_the_files_of_the_modules(
    settings: dict[str, Any], argument: str, tmp_path: Path
) -> None:
    raw = document(**settings)
    code = compiled(raw).code or {}
    assert argument in code["job.py"].replace('"', "'")
    for path, text in code.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    assert load_program(tmp_path).document()["settings"] == settings


def test_modules_are_found_by_the_imports_of_modules() -> None:
    modules = {"p": "from . import a\n", "p.a": "from . import x\n", "q": "", "q.b": "", "r": ""}
    assert imported(["from p import x\n"], modules) == {"p", "p.a"}
    assert imported(["import p.a, q.b\n"], modules) == {"p", "p.a", "q", "q.b"}
    assert imported(["def ("], modules) == set()


def test_a_handler_is_python_of_the_user_whatever_the_nodes_are() -> None:
    assert runs_only_expressions(document(processing_handler="continue"))
    assert not runs_only_expressions(document(production_handler="function"))
    assert runs_python(document(deserialization_handler="function"))
    odd: Any = {**document(), "settings": ["function"]}
    assert not runs_python(odd)


def test_windows_of_a_function_are_python_of_a_person() -> None:
    own = {"type": "custom", "code": "def own(timestamp): ...", "size": 10}
    assert runs_python(line(node("count", "count", window=own)))
    assert not runs_python(line(node("count", "count", window={"type": "tumbling", "size": 10})))


def test_plain_spark_has_neither() -> None:
    raw = document(modules={"a": ""}, production_handler="continue")
    made = compile_document(raw, OneTypeAnalyzer(), dialect="plain")
    found = {each.code for each in made.diagnostics}
    assert {"plain_modules", "plain_handler"} <= found
