"""Templates are complete, and use topics that a workspace may use."""

from __future__ import annotations

from typing import Any

import pytest
from catalog.templates import Template, template, templates
from millrace_compiler.graphs.needs import topics_of
from millrace_model.records import InputLine, OutputLine

from .conftest import Client, People

TEN = {
    "change-data-join", "dead-letters", "deduplicate", "fraud-by-session", "iot-sliding",
    "page-views", "purchases-per-hour", "split-by-type", "word-count", "word-count-processor",
}  # fmt: skip


def test_there_are_ten_templates_with_texts_in_both_languages() -> None:
    assert {each.id for each in templates()} == TEN
    for each in templates():
        assert each.description.endswith(".")
        assert not (each.title_zh + each.description_zh).isascii()
        assert each.inputs
        assert each.tests
        assert each.generators


@pytest.mark.parametrize("chosen", templates(), ids=lambda each: each.id)
def test_a_workspace_with_prefixes_gets_topics_that_it_may_use(chosen: Template) -> None:
    made = chosen.named("Mine", ["team-a.", "shared."])
    topics = {need.topic for need in topics_of(made.document)}
    assert topics == set(made.document["topics"])
    assert all(topic.startswith("team-a.") for topic in topics)
    lines: list[InputLine | OutputLine] = [*made.inputs]
    for test in made.tests:
        lines += [*test["inputs"], *test["expected"]["outputs"]]
    assert {line["topic"] for line in lines} <= topics
    assert set(made.generated) <= topics
    assert chosen.named("Mine", ["team-a.", ""]).document["topics"] == chosen.document["topics"]


@pytest.mark.django_db
def test_a_topology_from_a_template_has_its_tests_and_sample_records(
    people: People, client_of: Client
) -> None:
    people.workspace.topic_prefixes = ["team-a."]
    people.workspace.save()
    client: Any = client_of(people.editor)
    body = {"name": "Mine", "template": "fraud-by-session"}
    made = client.post("/api/workspaces/main/topologies", body).json()
    kept = client.get(f"/api/topologies/{made['id']}/tests").json()["results"]
    assert sorted(each["name"] for each in kept) == sorted(
        each["name"] for each in template("fraud-by-session").tests
    )
    found = client.get(f"/api/topologies/{made['id']}/sample-inputs").json()["inputs"]
    assert [line["topic"] for line in found] == ["team-a.payments"] * 10
    empty = client.post("/api/workspaces/main/topologies", {"name": "Empty"}).json()
    assert client.get(f"/api/topologies/{empty['id']}/sample-inputs").json() == {"inputs": []}
