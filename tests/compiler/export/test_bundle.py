"""The files of an exported job."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from millrace_compiler import Refused, bundle_files, compile_document
from millrace_compiler.compilation.describe import description_of
from millrace_compiler.program.versions import CONNECTOR

from tests.compiler.kit import OneTypeAnalyzer, compiled, line, node

RUNTIME = Path(__file__).parents[3] / "runtime"
GOLDEN = RUNTIME.parent / "tests" / "golden"
RAW = line(node("keep", "filter", predicate="true"), name="kept", description="Keeps all.")


def test_a_bundle_has_the_job_and_all_it_needs() -> None:
    files = bundle_files(compiled(RAW), RUNTIME)
    for path in (
        "job.py",
        "topology.json",
        "source_map.json",
        "state.json",
        "millrace_compiler/state/state_changes.py",
        "requirements.txt",
        "jars.txt",
        "README.md",
        "Dockerfile",
        "millrace_runtime/__init__.py",
        "millrace_compiler/__init__.py",
        "millrace_model/__init__.py",
        "millrace_services/__init__.py",
        "millrace_runtime/scala/Core.scala",
    ):
        assert files[path], path
    assert json.loads(files["topology.json"]) == RAW
    assert not [path for path in files if "__pycache__" in path]


def test_the_readme_says_how_many_partitions_topics_have() -> None:
    there = compile_document(RAW, OneTypeAnalyzer(), partitions={"in": 2})
    readme = bundle_files(there, RUNTIME)["README.md"].decode()
    assert "The widest sub-topology has 2 tasks" in readme
    assert "- `in`: 2 partitions (on the broker, at the time of the export)" in readme
    readme = bundle_files(compiled(RAW), RUNTIME)["README.md"].decode()
    assert "- `in`: 1 partition (assumed; " in readme


def test_the_compiled_operator_takes_the_place_of_its_sources(tmp_path: Path) -> None:
    jar = tmp_path / "operator.jar"
    jar.write_bytes(b"PK")
    files = bundle_files(compiled(RAW), RUNTIME, jar)
    assert files["millrace_runtime/operator/millrace-operator.jar"] == b"PK"
    assert not [path for path in files if path.endswith(".scala")]


def test_the_package_itself_names_the_runtime_too() -> None:
    package = RUNTIME / "millrace_runtime"
    assert bundle_files(compiled(RAW), package) == bundle_files(compiled(RAW), RUNTIME)


def test_a_plain_bundle_has_a_readme_whose_connector_is_published() -> None:
    compilation = compile_document(RAW, OneTypeAnalyzer("BOOLEAN"), dialect="plain")
    files = bundle_files(compilation, RUNTIME)
    jars = files["jars.txt"].decode().splitlines()
    assert CONNECTOR in jars  # of the locked jars, which are fetched
    for path in ("README.md", "job.py", "Dockerfile"):
        text = files[path].decode()
        assert CONNECTOR in text, path
        assert "VERSION" not in text, path
    assert files["entrypoint.sh"]
    assert not [path for path in files if path.startswith("millrace_")]


def test_the_jars_are_the_connectors() -> None:
    names = bundle_files(compiled(RAW), RUNTIME)["jars.txt"].decode().splitlines()
    assert any(name.startswith("org.apache.spark:spark-sql-kafka-0-10_2.13:") for name in names)
    assert any(name.startswith("org.apache.kafka:kafka-clients:") for name in names)
    assert len(names) == 4


def test_the_source_map_leads_from_lines_to_nodes() -> None:
    files = bundle_files(compiled(RAW), RUNTIME)
    lines = files["job.py"].decode().split("\n")
    spans = json.loads(files["source_map.json"])["job.py"]
    [span] = [span for span in spans if span["node"] == "keep"]
    assert 'name="keep"' in "\n".join(lines[span["start"] - 1 : span["end"]])
    ast.parse(files["job.py"].decode())


def test_the_plan_lies_beside_the_program_as_describe_shows_it() -> None:
    count = node("count", "count", group_by={"key": "value"})
    raw = line(count, topics={"in": 3, "out": 1})
    compilation = compiled(raw)
    plan = json.loads(bundle_files(compilation, RUNTIME)["plan.json"])
    assert (plan["tasks"], plan["levels"]) == (3, 2)
    described = description_of(compilation).to_json()
    kept = [
        {name: value for name, value in sub.items() if name not in ("level", "levels")}
        for sub in plan["subtopologies"]
    ]
    assert kept == described["subtopologies"]
    assert plan["internal_topics"] == described["internal_topics"]
    assert [(sub["levels"], sub["tasks"]) for sub in plan["subtopologies"]] == [([0], 3), ([1], 3)]
    assert plan["internal_topics"][0] == {
        "name": "count-repartition", "partitions": 3, "kind": "repartition",
    }  # fmt: skip
    assert plan["nodes"]["in"]["steps"] == ["in"]
    assert len(plan["nodes"]["count"]["steps"]) > 1
    plain = compile_document(raw, OneTypeAnalyzer(), dialect="plain")
    files = bundle_files(plain, RUNTIME)
    assert json.loads(files["plan.json"]) == {"between": []}
    assert b"pandas" not in files["requirements.txt"]


def test_a_plain_processor_requires_what_transform_with_state_needs() -> None:
    raw = json.loads((GOLDEN / "process" / "topology.json").read_text("utf-8"))
    plain = compile_document(raw, OneTypeAnalyzer(), dialect="plain")
    required = bundle_files(plain, RUNTIME)["requirements.txt"].decode().split()
    assert [each.rstrip("<>=.,0123456789") for each in required] == [
        "pyspark", "pandas", "pyarrow", "protobuf",
    ]  # fmt: skip


def test_no_file_of_a_bundle_knows_the_machine_it_was_made_on() -> None:
    files = bundle_files(compiled(RAW), RUNTIME)
    made = ("job.py", "README.md", "Dockerfile", "jars.txt", "requirements.txt", "source_map.json")
    for path in made:
        assert str(RUNTIME.parent).encode() not in files[path]


def test_a_refused_document_has_no_bundle() -> None:
    with pytest.raises(Refused, match="predicate"):
        bundle_files(compiled(line(node("keep", "filter"))), RUNTIME)


def test_a_runtime_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="millrace_runtime"):
        bundle_files(compiled(RAW), tmp_path)
