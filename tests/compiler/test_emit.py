"""The text of the job: what it does with hard values, and which lines belong to which node."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from millrace_compiler import Analyzer
from millrace_compiler.layout import WIDTH, block_text, layout, literal
from millrace_compiler.names import Names, identifier

from tests.compiler.kit import compiled, document, line, node, sink, stream
from tests.compiler.refused import CODE

GOLDEN = Path(__file__).parents[1] / "golden"
HARD = [
    'it\'s "quoted"',
    "back\\slash \\n",
    'ends with "',
    "'''\"\"\"",
    "tab\there",
    "null\0byte",
    "line\u2028separator",
    "中文 and 😀",
    "{braces} %s",
    "); import os; os.remove('x')",
]


def text(raw: dict[str, Any]) -> str:
    return (compiled(raw).require().code or {})["job.py"]


def strings(source: str) -> set[str]:
    found = (item.value for item in ast.walk(ast.parse(source)) if isinstance(item, ast.Constant))
    return {value for value in found if isinstance(value, str)}


def ruffed(made: str) -> str:
    """The same text as ruff formats it."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={WIDTH}", "-"]
    return subprocess.run(command, input=made, capture_output=True, text=True, check=True).stdout


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_is_written_so_that_it_is_read_back(value: str) -> None:
    if not value.isascii():
        value.encode("utf-8", "ignore")
    assert ast.literal_eval(literal(value)) == value
    assert ast.literal_eval(block_text(value)) == value


@pytest.mark.parametrize("value", HARD)
def test_values_of_the_document_are_constants_whatever_they_contain(value: str) -> None:
    raw = line(node("keep", "filter", predicate=value), name=value, description=value)
    raw["nodes"][1]["label"] = value
    made = text(raw)
    assert value in strings(made)
    assert made.encode()


@pytest.mark.parametrize(
    "value", ["a\nb", 'x\n"""\ny"', "1\r\n2", "a\n\\\n", "\n\nx\n", "'''\n\"\"\"\n"]
)
def test_texts_of_several_lines_stand_at_the_top_under_a_name(value: str) -> None:
    made = text(line(node("keep", "filter", predicate=value)))
    if "\n" in value.strip():
        assert "KEEP_EXPRESSION = " in made or "FILTER_EXPRESSION = " in made
    assert value in strings(made)


def test_the_same_document_gives_the_same_bytes_in_another_process() -> None:
    topology = GOLDEN / "join_table_table" / "topology.json"
    program = (
        "import json, sys; from millrace_compiler import compile_document; "
        "from tests.compiler.kit import OneTypeAnalyzer; "
        "raw = json.load(open(sys.argv[1])); "
        "print(compile_document(raw, OneTypeAnalyzer()).code['job.py'], end='')"
    )
    environment = {"PYTHONPATH": "compiler:.", "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(topology)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=GOLDEN.parents[1],
    )
    assert done.stdout == text(json.loads(topology.read_text("utf-8")))


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/job.py")), ids=lambda p: p.parent.name)
def test_the_layout_is_what_ruff_would_make_of_it(path: Path) -> None:
    made = path.read_text("utf-8")
    assert ruffed(made) == made


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/job.py")), ids=lambda p: p.parent.name)
def test_a_job_imports_the_runtime_and_nothing_else(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    imports = [item for item in ast.walk(tree) if isinstance(item, ast.Import | ast.ImportFrom)]
    [only] = imports
    assert isinstance(only, ast.ImportFrom)
    assert only.module == "millrace_runtime"
    used = {item.id for item in ast.walk(tree) if isinstance(item, ast.Name)}
    assert {alias.name for alias in only.names} <= used


@pytest.mark.parametrize(
    "path", sorted(GOLDEN.glob("*/topology.json")), ids=lambda p: p.parent.name
)
def test_every_node_with_a_step_has_lines_that_name_it(path: Path, analyzer: Analyzer) -> None:
    result = compiled(json.loads(path.read_text("utf-8")), analyzer).require()
    lines = (result.code or {})["job.py"].split("\n")
    spans = result.source_map
    stores = {id_ for id_, op in result.graph.operators.items() if op.family == "stores"}
    assert {span.node for span in spans} == set(result.graph.operators) - stores
    for span in spans:
        assert 1 <= span.start <= span.end <= len(lines)
        assert lines[span.start - 1].strip()
        assert lines[span.end - 1].strip()
    for id_ in set(result.graph.operators) - stores:
        mine = [s for s in spans if s.node == id_]
        assert any(f"(node {id_})" in "\n".join(lines[s.start - 1 : s.end]) for s in mine)


def test_variables_are_named_after_labels_and_hide_nothing() -> None:
    raw = line(
        node("a", "map_values", value="value"),
        node("b", "map_values", value="value"),
        node("c", "map_values", value="value"),
        node("d", "map_values", value="value"),
    )
    for item, label in zip(
        raw["nodes"][1:5], ("Count per word!", "import", "list", "每小时"), strict=True
    ):
        item["label"] = label
    made = text(raw)
    for name in ("count_per_word = ", "import_ = ", "list_ = ", "d = "):
        assert f"    {name}" in made


def test_two_nodes_of_one_label_have_two_variables() -> None:
    raw = line(node("a", "map_values", value="value"), node("b", "map_values", value="value"))
    for item in raw["nodes"][1:3]:
        item["label"] = "Same"
    made = text(raw)
    assert "same = " in made
    assert "same_2 = " in made


def test_identifiers_are_small_words() -> None:
    assert identifier("Orders × users") == ""
    assert identifier("2 hours") == "step_2_hours"
    assert len(identifier("word " * 30)) <= 40
    names = Names({"job"})
    assert [names.take("job"), names.take("", "x"), names.take("")] == ["job_2", "x", "step"]


def test_a_call_is_broken_only_where_it_does_not_fit() -> None:
    call = ast.parse("f('a', key=[1, 2], other='" + "x" * 80 + "')", mode="eval").body
    made = layout(call, 4)
    assert made.startswith("f(\n        ")
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(ast.unparse(call)))


def test_a_list_that_does_not_fit_has_one_item_on_each_line() -> None:
    branches = [{"port": f"p{n}", "predicate": f"value = '{'x' * 30}'"} for n in range(2)]
    raw = document([stream(), node("route", "split", branches=branches), sink()], ["in > route"])
    raw["edges"].append({"source": "route", "source_port": "p0", "target": "out"})
    made = text(raw)
    assert (
        f"""            branches=[
                ("p0", "value = '{"x" * 30}'"),
                ("p1", "value = '{"x" * 30}'"),
            ],
"""
        in made
    )
    assert ruffed(made) == made


def test_several_edges_into_a_sink_write_by_several_steps() -> None:
    raw = document([stream("a"), stream("b"), sink()], ["a > out", "b > out"])
    made = text(raw)
    assert '"out-0"' in made
    assert '"out-1"' in made


def test_processors_get_the_code_as_it_was_written() -> None:
    made = text(line(node("run", "process", code=CODE, class_name="Run", output={})))
    assert f'RUN_CODE = """\\\n{CODE}"""' in made or "PROCESS_CODE" in made
    assert CODE in strings(made)
