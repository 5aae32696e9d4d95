"""Compile, export, catalog and templates: the compiler's results in the API's shapes."""

from __future__ import annotations

import io
import json
import time
import uuid
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from catalog.templates import templates
from millrace_compiler import RecordedAnalyzer
from topologies import actions

from tests.compiler.kit import OneTypeAnalyzer
from tests.described import validator
from tests.runtime import topics
from tests.served import serving_analyzer

from .conftest import Client, People

RECORDED = Path(__file__).with_name("recorded_analysis.json")
BROKEN: Any = {
    "format": "millrace.topology/1",
    "name": "broken",
    "nodes": [
        {
            "id": "in",
            "kind": "source.stream",
            "params": {
                "topics": ["t"],
                "key": {"format": "string"},
                "value": {"format": "string"},
            },
        },
        {"id": "f", "kind": "filter", "params": {"predicate": "missing > 1"}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": "o"}},
    ],
    "edges": [{"source": "in", "target": "f"}, {"source": "f", "target": "out"}],
}


@pytest.fixture
def analyzer(settings: Any) -> Iterator[None]:
    """An analyzer with Spark's recorded answers for the templates and the broken document."""
    with serving_analyzer(RecordedAnalyzer(RECORDED)) as address:
        settings.MILLRACE_ANALYZER = address
        yield


def compile_it(client: Any, document: Any, revision: int = 7) -> Any:
    return client.post("/api/workspaces/main/compile", {"document": document, "revision": revision})


@pytest.mark.parametrize("name", [each.id for each in templates()])
def test_every_template_compiles_without_a_warning(
    name: str, analyzer: None, people: People, client_of: Client
) -> None:
    document = next(each.document for each in templates() if each.id == name)
    answer = compile_it(client_of(people.viewer), document)
    assert answer.status_code == 200
    content = answer.json()
    assert content["revision"] == 7
    assert content["diagnostics"] == []
    assert any(file["path"] == "job.py" for file in content["code"]["files"])
    assert {node["id"] for node in document["nodes"]} >= set(content["plan"]["nodes"])
    validator("CompileResult").validate(content)


def test_a_broken_document_is_answered_with_what_could_be_typed(
    analyzer: None, people: People, client_of: Client
) -> None:
    content = compile_it(client_of(people.viewer), BROKEN).json()
    validator("CompileResult").validate(content)
    (found,) = content["diagnostics"]
    assert (found["node"], found["parameter"], found["severity"]) == ("f", "predicate", "error")
    assert found["position"] == {"start": 0, "stop": 7}
    assert content["code"] is None
    assert content["ports"]["in"]["out"]["value"] == "STRING"


def test_conditions_of_a_test_are_checked_with_the_document(
    people: People, client_of: Client, settings: Any
) -> None:
    with serving_analyzer(OneTypeAnalyzer()) as settings.MILLRACE_ANALYZER:
        conditions = [{"topic": "o", "predicate": "key = 'a'"}, {"store": "s", "predicate": ""}]
        asked = {"document": BROKEN, "conditions": conditions}
        content = client_of(people.viewer).post("/api/workspaces/main/compile", asked).json()
        validator("CompileResult").validate(content)
        topic, store = content["conditions"]
        assert (topic["columns"]["value"], topic["diagnostics"]) == ("STRING", [])
        assert [each["path"] for each in store["diagnostics"]] == ["conditions[1].store"]
        assert "conditions" not in compile_it(client_of(people.viewer), BROKEN).json()


@pytest.mark.kafka
def test_the_plan_counts_the_partitions_that_topics_have_on_the_broker(
    people: People, client_of: Client, settings: Any, millrace_settings: Any, broker: Any
) -> None:
    topic = f"planned-{uuid.uuid4().hex[:8]}"
    topics.create(broker.address, {topic: 2})
    document = json.loads(json.dumps(BROKEN).replace('["t"]', f'["{topic}"]'))
    with serving_analyzer(OneTypeAnalyzer()) as settings.MILLRACE_ANALYZER:
        millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
        plan = compile_it(client_of(people.viewer), document).json()["plan"]
        assert plan["topics"] == [{"name": topic, "partitions": 2, "known": "broker"}]
        assert [each["tasks"] for each in plan["subtopologies"]] == [2]
        # A broker that does not respond: the plan says that the number is assumed, at once.
        millrace_settings.KAFKA_BOOTSTRAP_SERVERS = "127.0.0.1:1"
        began = time.monotonic()
        plan = compile_it(client_of(people.viewer), document).json()["plan"]
        assert plan["topics"] == [{"name": topic, "partitions": 1, "known": "assumed"}]
        assert time.monotonic() - began < 3


def test_without_an_analyzer_the_answer_reports_it(
    people: People, client_of: Client, settings: Any
) -> None:
    settings.MILLRACE_ANALYZER = "/nowhere"
    content = compile_it(client_of(people.viewer), BROKEN).json()
    validator("CompileResult").validate(content)
    assert "The analyzer at /nowhere does not respond" in str(content["diagnostics"])
    assert content["code"] is None


def test_an_export_is_a_zip_with_the_job_and_the_same_bytes_every_time(
    analyzer: None, people: People, client_of: Client
) -> None:
    document = next(each.document for each in templates() if each.id == "word-count")
    topology = actions.create_topology(people.editor, people.workspace, "Word é/count", document)
    path = f"/api/topologies/{topology.pk}/versions/1/export"
    answer = client_of(people.viewer).get(path)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/zip"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="Word-count-v1.zip"'
    names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
    for name in ("job.py", "README.md", "requirements.txt", "topology.json", "source_map.json"):
        assert f"Word-count-v1/{name}" in names
    assert any(name.startswith("Word-count-v1/millrace_runtime/") for name in names)
    assert client_of(people.viewer).get(path).content == answer.content


def test_a_plain_program_comes_with_its_differences_and_is_exported(
    analyzer: None, people: People, client_of: Client
) -> None:
    document = next(each.document for each in templates() if each.id == "word-count")
    client = client_of(people.viewer)
    asked = {"document": document, "revision": 3, "dialect": "plain"}
    content = client.post("/api/workspaces/main/compile", asked).json()
    validator("CompileResult").validate(content)
    assert {each["severity"] for each in content["diagnostics"]} == {"difference"}
    [job] = [file["text"] for file in content["code"]["files"]]
    assert "millrace_runtime" not in job
    topology = actions.create_topology(people.editor, people.workspace, "Words", document)
    path = f"/api/topologies/{topology.pk}/versions/1/export?dialect="
    zipped = zipfile.ZipFile(io.BytesIO(client.get(f"{path}plain").content))
    assert zipped.read("Words-v1/job.py").decode() == job
    assert not any("millrace_runtime" in name for name in zipped.namelist())
    assert client.get(f"{path}other").status_code == 400


def test_what_does_not_compile_is_not_exported_and_the_reasons_are_given(
    analyzer: None, people: People, client_of: Client
) -> None:
    topology = actions.create_topology(people.editor, people.workspace, "Broken", BROKEN)
    answer = client_of(people.viewer).get(f"/api/topologies/{topology.pk}/versions/1/export")
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "does_not_compile"
    assert error["diagnostics"][0]["node"] == "f"


def test_the_catalog_has_the_described_shape_and_is_fetched_once(
    people: People, client_of: Client
) -> None:
    client = client_of(people.viewer)
    answer = client.get("/api/catalog")
    assert answer.status_code == 200
    validator("Catalog").validate(answer.json())
    # A browser receives it compressed, with a weak ETag.
    zipped = client.get("/api/catalog", headers={"Accept-Encoding": "gzip"})
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert zipped.headers["ETag"].startswith("W/")
    for known in (answer, zipped):
        again = client.get("/api/catalog", headers={"If-None-Match": known.headers["ETag"]})
        assert again.status_code == 304
        assert again.content == b""
