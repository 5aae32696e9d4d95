"""Programs of the plain dialect parse, import only pyspark, and are formatted."""

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
from millrace_compiler import Analyzer, compile_document
from millrace_compiler.compilation.compilation import Compilation
from millrace_compiler.declarations.operator import Store, registry
from millrace_compiler.diagnostics.messages import SENTENCES
from millrace_compiler.diagnostics.messages.plain import PLAIN
from millrace_compiler.plain.nodes import WRITERS
from millrace_compiler.plain.text import Chain, Columns, Name, call, statement
from millrace_compiler.program.layout import WIDTH
from millrace_runtime.functions.known_types import KnownTypes

from tests.compiler.kit import OneTypeAnalyzer, document, line, node, sink, stream
from tests.compiler.mutations import mutated, scenarios
from tests.compiler.program.test_writer import HARD
from tests.compiler.test_mutations import GuessingAnalyzer

GOLDEN = Path(__file__).parents[2] / "golden"


def plain(raw: dict[str, Any], analyzer: Analyzer | None = None) -> Compilation:
    return compile_document(raw, analyzer or OneTypeAnalyzer(), dialect="plain")


def program(raw: dict[str, Any]) -> str:
    return (plain(raw).require().code or {})["job.py"]


def topology(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / name / "topology.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize(
    "path", sorted(GOLDEN.glob("*/topology.json")), ids=lambda p: p.parent.name
)
def test_a_program_imports_nothing_but_pyspark_and_keeps_to_the_width(
    path: Path, analyzer: Analyzer
) -> None:
    made = plain(json.loads(path.read_text("utf-8")), analyzer)
    if made.code is None:
        assert {d.code for d in made.diagnostics if d.severity == "error"} <= set(PLAIN)
        return
    text = made.code["job.py"]
    imported = {
        name.split(".")[0]
        for item in ast.walk(ast.parse(text))
        if isinstance(item, ast.Import | ast.ImportFrom)
        for name in ([item.module or ""] if isinstance(item, ast.ImportFrom)
                     else [alias.name for alias in item.names])
    }  # fmt: skip
    assert {"argparse", "pyspark"} <= imported <= {"pyspark", *sys.stdlib_module_names}
    assert max(len(each) for each in text.split("\n")) <= WIDTH
    for span in made.source_map:
        assert span.start <= span.end <= text.count("\n")


def test_programs_are_laid_out_as_ruff_lays_them_out(analyzer: Analyzer, tmp_path: Path) -> None:
    for path in GOLDEN.glob("*/topology.json"):
        made = plain(json.loads(path.read_text("utf-8")), analyzer)
        if made.code is not None:
            (tmp_path / f"{path.parent.name}.py").write_text(made.code["job.py"], "utf-8")
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--check", "--diff"]
    assert len(list(tmp_path.iterdir())) > 20
    checked = subprocess.run(
        [*command, f"--line-length={WIDTH}", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.stdout == ""


@settings(max_examples=200, deadline=None)
@given(st.text(min_size=1).filter(lambda text: text.isprintable() or text.isascii()))
def test_any_text_in_a_statement_is_read_back_and_fits_the_width(value: str) -> None:
    steps = (call("where", value), call("withColumns", Columns(((value, call("F.expr", value)),))))
    made = statement("rows", Chain(Name("orders"), steps), 0)
    found = [
        item.value
        for item in ast.walk(ast.parse(made))
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]
    assert found.count(value) == 3
    long = [each for each in made.split("\n") if len(each) > WIDTH]
    assert not long or len(value) > WIDTH // 2


@pytest.mark.parametrize("hard", HARD)
def test_hard_texts_of_people_stay_texts(hard: str) -> None:
    raw = line(node("keep", "filter", predicate=f"value = {hard!r}"))
    raw["name"] = raw["description"] = raw["nodes"][1]["label"] = hard
    raw["nodes"][1]["description"] = hard
    tree = ast.parse(program(raw))
    constants = {item.value for item in ast.walk(tree) if isinstance(item, ast.Constant)}
    assert f"value = {hard!r}" in constants


def test_a_comment_is_what_the_code_does_not_say() -> None:
    raw = line(
        node("large", "filter", predicate="true"),
        node("renamed", "map_values", value="value"),
    )
    labels = ("Lines", "Only large ones", "大写", "Out")
    for each, label in zip(raw["nodes"], labels, strict=True):
        each["label"] = label
    raw["nodes"][1]["description"] = "Those above 100."
    made = program(raw)
    comments = [each.strip() for each in made.split("\n") if each.startswith("    # ")]
    assert comments == ["# Those above 100.", "# 大写"]
    assert "only_large_ones = lines.where" in made


def test_documents_with_faults_are_refused_and_never_raise() -> None:
    documents = [each["topology"] for each in scenarios()]
    analyzer = GuessingAnalyzer()
    written = 0
    for number in range(300):
        made = plain(mutated(documents, 29, number), analyzer)
        assert made.ok or any(each.severity == "error" for each in made.diagnostics)
        assert all(each.to_text() for each in made.diagnostics)
        if made.code is not None:
            ast.parse(made.code["job.py"])
            written += 1
    assert written


def test_a_table_that_is_refused_is_reported_once_and_not_by_the_join() -> None:
    proto = {"format": "protobuf", "schema": 'syntax = "proto3"; message A {int32 a = 1;}'}
    raw = document(
        [
            stream(),
            node("rates", "source.global_table", topic="rates", key={"format": "string"},
                 value=proto),
            node("priced", "join.stream_global_table", key="key", joiner="left"),
            sink(),
        ],
        ["in > priced.left", "rates > priced.right", "priced > out"],
    )  # fmt: skip
    errors = [d for d in plain(raw).diagnostics if d.severity == "error"]
    assert [(d.code, d.node) for d in errors] == [("plain_format", "rates")]


def test_random_values_are_refused_because_plain_spark_draws_others_again(
    analyzer: Analyzer,
) -> None:
    raw = line(node("tag", "map_values", value="concat(value, uuid(), now())"))
    assert compile_document(raw, analyzer).ok
    errors = [d for d in plain(raw, analyzer).diagnostics if d.severity == "error"]
    assert [(d.code, d.node, d.parameter) for d in errors] == [("plain_draws", "tag", "value")]


@pytest.mark.parametrize(
    ("type_", "refused"),
    [
        ("names MAP<STRING, INT>, at MAP<TIMESTAMP, INT>", False),
        ("names ARRAY<STRUCT<n: MAP<INT, STRING>>>", True),
        ("MAP<BOOLEAN, STRING>", True),
    ],
)
def test_maps_that_sparks_json_does_not_read_are_refused(type_: str, refused: bool) -> None:
    raw = document([stream(value={"format": "json", "schema": type_}), sink()], ["in > out"])
    errors = [d for d in plain(raw).diagnostics if d.severity == "error"]
    found = [(d.code, d.node, d.parameter) for d in errors]
    assert found == ([("plain_source", "in", "value")] if refused else [])


def test_every_kind_has_a_writer() -> None:
    kinds = {kind for kind, cls in registry().items() if not issubclass(cls, Store)}
    assert set(WRITERS) == kinds


def test_every_code_is_in_the_catalog() -> None:
    assert set(PLAIN) <= set(SENTENCES)
    assert {p.severity for p in PLAIN.values()} == {"difference", "warning", "error"}


def test_the_last_of_several_steps_with_state_reads_a_topic_of_the_first() -> None:
    raw = document(
        [
            stream(value={"format": "long"}),
            node("counted", "count"),
            node("updates", "to_stream"),
            node("best", "reduce", reducer="greatest(agg, value)", group_by={"key": "'all'"}),
            sink(),
        ],
        ["in > counted", "counted > updates", "updates > best", "best > out"],
        name="two steps",
    )
    made = plain(raw).require()
    text = (made.code or {})["job.py"]
    assert 'topic="two-steps-counted"' in text
    assert 'kafka.read("two-steps-counted")' in text


def test_handlers_that_plain_spark_does_not_have_are_refused() -> None:
    settings = {"processing_handler": "dead_letter_then_fail", "dead_letter_topic": "dead",
                "uncaught_exception_handler": "replace_thread"}  # fmt: skip
    made = plain(line(node("keep", "filter", predicate="true"), settings=settings))
    refused = [(d.code, d.parameter) for d in made.diagnostics if d.severity == "error"]
    assert refused == [
        ("plain_handler", "processing_handler"), ("plain_handler", "uncaught_exception_handler"),
    ]  # fmt: skip


def test_a_rule_keeps_its_results_without_its_counts_or_is_refused() -> None:
    def made(rejected: str) -> Any:
        settings = {"dead_letter_topic": "dead"}
        rule = node("rule", "filter", predicate="value <> ''", rejected=rejected)
        return plain(line(rule, settings=settings))

    for rejected in ("drop_and_count", "count", "warn"):
        found = [(d.code, d.severity) for d in made(rejected).diagnostics if d.node == "rule"]
        assert found == [("plain_rejected", "warning")]
        where = "where(\"value <> ''\")" in made(rejected).code["job.py"]
        assert where == (rejected == "drop_and_count")
    for rejected in ("dead_letter", "stop"):
        errors = [d for d in made(rejected).diagnostics if d.severity == "error"]
        assert [(d.code, d.parameter) for d in errors] == [("plain_kind", "rejected")]


def test_functions_that_expressions_call_are_refused() -> None:
    functions = {"functions": "def f(value): ...", "returns": {"f": "BOOLEAN"}}
    rule = node("rule", "filter", predicate="f(value)", rejected="warn", **functions)
    made = compile_document(line(rule), KnownTypes(), dialect="plain")
    refused = [(d.code, d.parameter) for d in made.diagnostics if d.severity == "error"]
    assert refused == [("plain_kind", "functions")]


def test_days_of_a_zone_are_refused_and_an_offset_is_sparks_start_time() -> None:
    days = {"type": "tumbling", "unit": "day", "time_zone": "Europe/Paris"}
    made = plain(line(node("days", "count", window=days)))
    refused = [(d.code, d.parameter) for d in made.diagnostics if d.severity == "error"]
    assert refused == [("plain_kind", "window")]
    shifted = {"type": "hopping", "size": "1 day", "advance": "6 hours", "offset": "1 hour"}
    text = program(line(node("days", "count", window=shifted)))
    assert '"1 day", "6 hours", startTime="1 hour"' in text


def test_a_refused_node_shows_code_node_and_parameter() -> None:
    late = node("late", "count", window={"type": "sliding", "difference": 0})
    made = plain(line(late))
    assert made.code is None
    assert [(d.code, d.node, d.parameter) for d in made.diagnostics if d.severity == "error"] == [
        ("plain_kind", "late", "window")
    ]


def test_a_program_has_no_part_that_it_does_not_use() -> None:
    listening = program(document([stream(), sink()], ["in > out"]))
    assert "import re\n" not in listening
    assert ("def table(" in listening, "def show(" in listening) == (False, False)
    raw = document([stream(topic_pattern="in-.*"), node("log", "sink.print")], ["in > log"])
    patterned = program(raw)
    assert "import re\n" in patterned
    assert "def show(" in patterned


@pytest.mark.parametrize(("word", "stays"), [("getattr", True), ("print", False)])
def test_what_a_processor_may_name_in_another_way_stays(word: str, stays: bool) -> None:
    raw = topology("process_values")
    [trim] = [each for each in raw["nodes"] if each["kind"] == "process_values"]
    trim["params"]["code"] += f"        {word}(self, 'context')\n"
    assert ("def put_if_absent(" in program(raw)) == stays
