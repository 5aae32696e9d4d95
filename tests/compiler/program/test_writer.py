"""Programs: how they read, and that the document can be recovered from them."""

from __future__ import annotations

import ast
import json
import keyword
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from millrace_compiler import Analyzer, Compilation, compile_document
from millrace_compiler.program.classes import own_code
from millrace_compiler.program.comments import read_comment, write_comment
from millrace_compiler.program.labels import implied_label
from millrace_compiler.program.layout import WIDTH, block_text, layout, literal
from millrace_compiler.program.names import Names, identifier
from millrace_runtime.program import load_program

from cli.round_trip import round_trip
from tests.compiler.kit import (
    STRING,
    OneTypeAnalyzer,
    compiled,
    document,
    line,
    node,
    sink,
    store,
    stream,
)
from tests.compiler.refused import CODE

TESTS = Path(__file__).parents[2]
GOLDENS = sorted((TESTS / "golden").glob("*/job.py"))
DOCUMENTS = [
    *(TESTS / "golden").glob("*/topology.json"),
    *(TESTS / "conformance" / "scenarios").glob("*.json"),
    *(TESTS / "conformance" / "semantics").glob("*-in-*.json"),  # windows of a calendar
    *(TESTS / "conformance" / "semantics").glob("*-with-an-offset.json"),
    *(TESTS / "conformance" / "semantics").glob("custom-windows-*.json"),
    *(TESTS / "conformance" / "semantics").glob("optimized-*.json"),
]


def files(raw: Any) -> dict[str, str]:
    return compiled(raw).require().code or {}


def program(raw: Any) -> str:
    return files(raw)["job.py"]


def read_back(compilation: Compilation, folder: Path) -> Any:
    """Return the document that is recovered from a compilation's program."""
    for path, text in (compilation.require().code or {}).items():
        (folder / path).write_text(text, encoding="utf-8", newline="")
    return load_program(folder).document()


def labels(raw: Any) -> Any:
    """Label and description of each node."""
    nodes = {each["id"]: (each.get("label"), each.get("description")) for each in raw["nodes"]}
    return {id_: tuple((text or "").strip() for text in texts) for id_, texts in nodes.items()}


def ruffed(made: str) -> str:
    """Return the text as ruff formats it."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={WIDTH}", "-"]
    return subprocess.run(command, input=made, capture_output=True, text=True, check=True).stdout


# ---- document, program, document ---------------------------------------------------------------


@pytest.mark.parametrize(
    "path", DOCUMENTS, ids=lambda p: p.parent.name if p.stem == "topology" else p.stem
)
def test_a_program_gives_back_the_document_that_it_was_made_of(
    path: Path, analyzer: Analyzer
) -> None:
    raw = json.loads(path.read_text("utf-8"))
    raw = raw.get("topology", raw)
    first = compile_document(raw, analyzer)
    if first.code is None:
        return
    assert round_trip(raw, analyzer) == []
    assert max(map(len, first.code["job.py"].split("\n"))) <= WIDTH or "class " in str(first.code)


def test_what_a_program_does_not_give_back_is_found(
    analyzer: Analyzer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the comparison itself, with a program whose name and node texts were edited."""
    raw = json.loads((TESTS / "golden" / "count" / "topology.json").read_text("utf-8"))

    def edited(folder: Path) -> Any:
        job = folder / "job.py"
        text = job.read_text("utf-8")
        job.write_text(text.replace('"word-count"', '"counted"').replace("# Lines of", "# Rows of"))
        return load_program(folder)

    monkeypatch.setattr("cli.round_trip.load_program", edited)
    found = round_trip(raw, analyzer)
    assert {"labels and comments differ", "names differ", "programs differ"} <= {*found}


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
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "a\n'''\"\"\"",
        '\n"""',
        "x\\",
        "a\r\nb",
        "'" * 3 + '\n"',
        "\\\n",
        "# a\n#b",
        "a  b.",
        " x ",
        *HARD,
    ]
)
SQL = TEXT.filter(lambda text: text.strip())


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(SQL, min_size=6, max_size=6), label=TEXT, description=TEXT, name=SQL)
def test_every_text_of_a_document_comes_back_from_its_program(
    texts: list[str], label: str, description: str, name: str, tmp_path_factory: Any
) -> None:
    key, value, message, peeked, code, config = texts
    code = f"class Run(Processor):\n    text = {code!r}\n# {config!r}\n{'x = ' + repr(key)}\n"
    raw = document(
        [
            stream(),
            node("keep", "filter", predicate=key),
            node("map", "map", key=value, value=message),
            node("say", "peek", message=peeked),
            node("run", "process", code=code, class_name="Run", output={}),
            node("count", "count"),
            store("rows", logging_config={"x": config}),
            node("log", "sink.print", label=value),
            sink(),
        ],
        ["in > keep", "keep > map", "map > say", "say > run", "run > count", "count > log"],
    )
    raw["edges"] += [
        {"source": "rows", "target": "count", "target_port": "store"},
        {"source": "count", "target": "out"},
    ]
    raw |= {"name": name, "description": description}
    for each in raw["nodes"]:
        each |= {"label": label, "description": description}
    compilation = compile_document(raw, OneTypeAnalyzer())
    event(f"accepted: {compilation.ok}")
    if compilation.code is None:  # a text that a document must not contain
        return
    back = read_back(compilation, tmp_path_factory.mktemp("program"))
    expected = {each["id"]: each["params"] for each in raw["nodes"]}
    expected["run"] = {**expected["run"], "output": {}}
    assert {each["id"]: each["params"] for each in back["nodes"]} == expected
    assert labels(back) == labels(raw)
    assert back["name"] == name
    assert back.get("description", "") == description.strip()


@pytest.mark.parametrize("id_", ["big", "filter", "filter-2", "big-orders", "x"])
@pytest.mark.parametrize(
    "label",
    [None, "Big", "Filter", "Filter 2", "Big orders", "big orders", "X", "Sum per day", "大"],
)
@pytest.mark.parametrize("description", [None, "Those above 100.", "Those above 100"])
@pytest.mark.parametrize("outputs", [0, 1, 2])
@pytest.mark.parametrize("others", ["", "Another"])
def test_a_label_is_given_back_with_and_without_a_comment(
    id_: str, label: str | None, description: str | None, outputs: int, others: str, tmp_path: Path
) -> None:
    sinks = [sink(f"out{number}") for number in range(outputs)]
    raw = document(
        [stream(), node(id_, "filter", predicate="true"), *sinks],
        [f"in > {id_}", *(f"{id_} > {each['id']}" for each in sinks)],
    )
    for each in raw["nodes"]:
        each["label"] = others
    raw["nodes"][1] |= {"label": label or "", "description": description or ""}
    assert labels(read_back(compiled(raw), tmp_path)) == labels(raw)


@pytest.mark.parametrize(
    ("kind", "id_", "variable", "label"),
    [
        ("source.stream", "text-lines", "text_lines", "Text lines"),
        ("source.stream", "stream", "stream", "Stream from topics"),
        ("filter", "by-order", None, "By order"),
        ("filter", "filter", None, "Filter"),
        ("filter", "filter-2", "filter_2", "Filter"),
        ("count", "count", "count_per_word", "Count per word"),
        ("count", "count", "counts_2", "Counts"),
        ("join.table_table", "join", None, "Join tables"),
        ("sink.topic", "out-2", None, None),
        ("sink.topic", "sink", None, "To a topic"),
        ("sink.topic", "word-counts", None, "Word counts"),
        ("store.key_value", "counts", None, None),
        ("store.key_value", "counts", "counts_store", "Counts"),
        ("store.key_value", "store", "store_store", "Key-value store"),
    ],
)
def test_the_code_names_a_node(kind: str, id_: str, variable: str | None, label: str) -> None:
    assert implied_label(kind, id_, variable) == label


def test_only_labels_that_say_more_than_the_code_are_comments() -> None:
    raw = line(
        node("filter", "filter", predicate="true"),
        node("by-value", "select_key", key="value"),
        node("count", "count"),
    )
    for each, label in zip(
        raw["nodes"], ("In", "Above 1 € only", "By value", "Count per value", ""), strict=True
    ):
        each["label"] = label
    made = program(raw)
    comments = [each.strip() for each in made.split("\n") if each.strip().startswith("#")]
    assert comments == ["# Above 1 € only"]
    assert "count_per_value = " in made


def test_a_program_says_once_that_nodes_have_no_labels() -> None:
    raw = line(node("filter", "filter", predicate="true"), node("count", "count"))
    for each in raw["nodes"]:
        each["label"] = ""
    made = program(raw)
    assert made.count("label") == made.count("labels=False") == 1


# ---- texts -------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text_is_written_so_that_it_is_read_back(value: str) -> None:
    assert ast.literal_eval(literal(value)) == value
    assert ast.literal_eval(block_text(value)) == value


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40), st.text(max_size=200))
def test_a_comment_shows_label_and_description_or_is_not_written(label: str, text: str) -> None:
    lines = write_comment(label, text, 60)
    if lines is not None:
        assert read_comment(lines) == (label or None, text or None)
        assert all(len(each) <= 60 for each in lines)


def test_a_long_expression_is_broken_between_its_words() -> None:
    long = " || ".join(f"value.part_{n}" for n in range(12))
    made = program(line(node("keep", "map_values", value=long)))
    assert max(map(len, made.split("\n"))) <= WIDTH
    assert ruffed(made) == made
    assert long in {
        each.value for each in ast.walk(ast.parse(made)) if isinstance(each, ast.Constant)
    }


def test_a_call_is_broken_only_where_it_does_not_fit() -> None:
    call = ast.parse("f('a', key=[1, 2], other='" + "x" * 80 + "')", mode="eval").body
    made = layout(call, 4)
    assert made.startswith("f(\n        ")
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(ast.unparse(call)))


@pytest.mark.parametrize("call", [".count()", ".count(store=store)", f".reduce('{'x' * 90}')"])
@pytest.mark.parametrize("expression", ["x" * 80, "x y " * 30])
def test_a_chain_of_two_calls_is_broken_in_the_first(call: str, expression: str) -> None:
    tree = ast.parse(f"table.group_by('key', '{expression}'){call}", mode="eval").body
    made = layout(tree, 0, "counted = ") + "\n"
    assert max(map(len, made.split("\n"))) <= WIDTH
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(f"counted = {ast.unparse(tree)}"))
    if " " not in expression:
        assert ruffed(made) == made


def test_identifiers_are_small_words() -> None:
    assert identifier("Orders × users") == ""
    assert identifier("2 hours") == "step_2_hours"
    assert len(identifier("word " * 30)) <= 40
    names = Names({"job"})
    assert [names.take("job"), names.take("", "x"), names.take("")] == ["job_2", "x", "step"]


# ---- how it reads ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", GOLDENS, ids=lambda p: p.parent.name)
def test_the_layout_is_what_ruff_would_make_of_it(path: Path) -> None:
    made = path.read_text("utf-8")
    assert ruffed(made) == made


@pytest.mark.parametrize("path", GOLDENS, ids=lambda p: p.parent.name)
def test_a_program_imports_the_runtime_and_nothing_else(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    imports = [item for item in ast.walk(tree) if isinstance(item, ast.Import | ast.ImportFrom)]
    [only] = imports
    assert isinstance(only, ast.ImportFrom)
    assert only.module == "millrace_runtime"
    used = {item.id for item in ast.walk(tree) if isinstance(item, ast.Name)}
    assert {alias.name for alias in only.names} <= used


def test_the_same_document_gives_the_same_bytes_in_another_process() -> None:
    topology = TESTS / "golden" / "join_table_table" / "topology.json"
    script = (
        "import json, sys; from millrace_compiler import compile_document; "
        "from tests.compiler.kit import OneTypeAnalyzer; "
        "raw = json.load(open(sys.argv[1])); "
        "print(compile_document(raw, OneTypeAnalyzer()).code['job.py'], end='')"
    )
    environment = {"PYTHONPATH": "compiler:.", "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", script, str(topology)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=TESTS.parent,
    )
    assert done.stdout == program(json.loads(topology.read_text("utf-8")))


@pytest.mark.parametrize(
    "path", [p for p in DOCUMENTS if p.stem == "topology"], ids=lambda p: p.parent.name
)
def test_every_node_has_lines_of_its_own(path: Path, analyzer: Analyzer) -> None:
    result = compiled(json.loads(path.read_text("utf-8")), analyzer).require()
    lines = (result.code or {})["job.py"].split("\n")
    stores = {id_ for id_, op in result.graph.operators.items() if op.family == "stores"}
    assert set(result.graph.operators) - stores <= {span.node for span in result.source_map}
    for span in result.source_map:
        assert 1 <= span.start <= span.end <= len(lines)
        assert lines[span.start - 1].strip()
        assert lines[span.end - 1].strip()


def test_calls_are_chained_where_a_result_is_used_once() -> None:
    raw = line(
        node("filter", "filter", predicate="true"),
        node("map-values", "map_values", value="value"),
        node("peek", "peek", message="value"),
    )
    made = program(raw)
    assert '    in_.filter("true")\n    .map_values("value")\n' in made or "in_.filter(" in made
    assert "name=" not in made.replace('name="in"', "")


def test_an_id_is_written_only_where_the_call_does_not_give_it() -> None:
    made = program(document([stream("orders", ["orders"]), sink()], ["orders > out"]))
    assert "name=" not in made


def test_a_windowed_count_reads_as_in_the_dsl() -> None:
    count = node(
        "count", "count", group_by={"key": "value"}, window={"type": "tumbling", "size": 3_600_000}
    )
    made = program(line(count))
    assert '.group_by("value")' in made
    assert '.windowed_by(tumbling("1 hour"))' in made


def test_a_processor_stands_in_the_program_or_beside_it() -> None:
    run = node("run", "process", code=CODE, class_name="Run", output={})
    assert "class Run(Processor):" in program(line(run))
    noisy = node("run", "process", code=CODE + "\nprint('loaded')\n", class_name="Run", output={})
    made = files(line(noisy))
    assert made["run.py"].endswith("print('loaded')\n")
    assert '"run.py:Run"' in made["job.py"]


@pytest.mark.parametrize(
    "blank", ["", "\n", "\n\n\n\n", "\n# the limit\n", "\n# about all\n\n", "\nLIMIT = 3\n"]
)
@pytest.mark.parametrize("before", ["", "\n", "import json\n"])
def test_lines_of_a_processor_are_those_of_the_document(
    blank: str, before: str, tmp_path: Path
) -> None:
    used = ", ".join(name for name in ("json", "LIMIT") if name in before + blank)
    closing = f"    def close(self):\n        self.ended = (time.time(), {used})\n"
    code = f"{before}import time{blank}\n{CODE}{closing}"
    made = compiled(line(node("run", "process", code=code, class_name="Run", output={})))
    found = [each for each in read_back(made, tmp_path)["nodes"] if each["kind"] == "process"]
    assert found[0]["params"]["code"].rstrip() == code.rstrip()


def test_names_of_variables_hide_nothing_that_is_imported() -> None:
    raw = line(node("x", "map_values", value="value"), node("y", "map_values", value="value"))
    for item, label in zip(raw["nodes"], ("string", "import", "list", "json"), strict=True):
        item["label"] = label
    raw["nodes"][0]["params"]["key"] = STRING
    body = ast.parse(program(raw)).body
    imports = [each for each in body if isinstance(each, ast.Import | ast.ImportFrom)]
    imported = {alias.asname or alias.name for each in imports for alias in each.names}
    targets = [t for each in body if isinstance(each, ast.Assign) for t in each.targets]
    assigned = {target.id for target in targets if isinstance(target, ast.Name)}
    assert "string" in imported
    assert assigned
    assert not assigned & {*imported, *keyword.kwlist, "list"}


def test_a_local_variable_of_a_processor_takes_nothing_along() -> None:
    source = "class One(Processor):\n    def process(self, record):\n        before = record\n\n"
    found = own_code(source + "before = Topology('t')\n", "One")
    assert found is not None
    assert "Topology" not in found
    shared = "LIMIT = 3\n\n\nclass One(Processor):\n    limit = LIMIT\n"
    assert own_code(shared, "One") == shared
