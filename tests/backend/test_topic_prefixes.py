"""Topics outside a workspace's prefixes are not listed, compiled or deployed."""

from __future__ import annotations

from typing import Any

import pytest
from accounts import actions
from accounts.models import User, Workspace
from accounts.topics import allows
from deployments import actions as deployments
from deployments import cluster, reconciling
from millrace_backend import kafka
from millrace_compiler.documents.topic_patterns import topic_pattern
from topologies import actions as topologies
from topologies.topics import refusals

from tests.runtime import topics

from .conftest import Client, People


def using(*, pattern: str | None = None, expression: str | None = None, **names: Any) -> Any:
    """A document with a source and a sink of these topics."""
    source = {"topic_pattern": pattern} if pattern else {"topics": names.get("reads", ["orders-a"])}
    sink = {"topic_expression": expression} if expression else {"topic": names.get("writes", "x")}
    return {
        "format": "millrace.topology/1",
        "name": "test",
        "nodes": [
            {"id": "in", "kind": "source.stream", "params": source},
            {"id": "out", "kind": "sink.topic", "params": sink},
        ],
        "edges": [],
        "settings": {"dead_letter_topic": names.get("dead")},
    }


def places(document: Any, *prefixes: str) -> list[tuple[str | None, str | None]]:
    return [(each.node, each.parameter) for each in refusals(document, prefixes)]


@pytest.fixture
def chief(people: People) -> User:
    """The installation's admin, who is not a member of any workspace."""
    chief = actions.set_up("chief", "chiefs")
    assert chief.is_superuser
    return chief


def test_without_prefixes_all_topics_but_internal_ones_are_allowed() -> None:
    assert allows([], "orders")
    assert not allows([], "__consumer_offsets")
    assert not allows(["__c"], "__consumer_offsets")
    assert places(using(reads=["a", "__b"], writes="__c", dead="__d")) == [
        ("in", "topics"),
        ("out", "topic"),
        (None, "dead_letter_topic"),
    ]
    assert places(using(pattern=".*", expression="'a'")) == []
    assert places(using(pattern="__.*")) == [("in", "topic_pattern")]


def test_every_place_of_a_document_that_names_a_topic_obeys_the_prefixes() -> None:
    assert places(using(reads=["orders-a", "orders-b"], writes="paid"), "orders-", "paid") == []
    assert places(using(reads=["orders-a", "other"], writes="paid", dead="dead"), "orders-") == [
        ("in", "topics"),
        ("out", "topic"),
        (None, "dead_letter_topic"),
    ]
    assert places(using(expression="value.name"), "orders-") == [("out", "topic_expression")]


@pytest.mark.parametrize(
    ("pattern", "within"),
    [
        ("orders-.*", True),
        (r"orders-\d+", True),
        ("orders-(a|b)", True),
        ("^orders-.*$", True),
        (".*", False),
        ("orders", False),
        ("orders-?.*", False),
        ("orders-x|.*", False),
        ("orders-[(]|.*", False),
        ("(?i)orders-x", False),
        ("[a-z]*orders-", False),
    ],
)
def test_a_pattern_is_allowed_where_all_matches_begin_with_a_prefix(
    pattern: str, within: bool
) -> None:
    assert topic_pattern(pattern).begins_with("orders-") is within
    expected = [] if within else [("in", "topic_pattern")]
    assert places(using(pattern=pattern, writes="orders-x"), "paid", "orders-") == expected


def test_broken_documents_are_left_to_the_compiler() -> None:
    broken: list[Any] = [{}, {"nodes": 3}, {"nodes": [1, {"params": 2}]}, {"settings": []}]
    for each in broken:
        assert refusals(each, ["a"]) == []
    assert places(using(pattern="("), "a") == [("out", "topic")]


def test_only_the_installations_admin_sets_prefixes_and_only_in_a_session(
    people: People, chief: User, client_of: Client
) -> None:
    path, body = "/api/installation/workspaces/main", {"topic_prefixes": ["orders-", "orders-"]}
    assert client_of(people.admin).put(path, body).status_code == 403
    set_ = client_of(chief).put(path, body)
    assert set_.json()["topic_prefixes"] == ["orders-"]
    assert Workspace.objects.get(slug="main").topic_prefixes == ["orders-"]
    entry = client_of(people.admin).get("/api/workspaces/main/audit").json()["results"][0]
    assert entry["action"] == "workspace.topics"
    assert entry["detail"] == {"name": "Main", "topic_prefixes": ["orders-"]}
    for wrong in (["__x"], ["a b"], "orders", [""]):
        assert client_of(chief).put(path, {"topic_prefixes": wrong}).status_code == 400
    token = client_of(None)
    made = client_of(chief).post("/api/tokens", {"name": "ci"}).json()["token"]
    token.credentials(HTTP_AUTHORIZATION=f"Token {made}")
    assert token.put(path, body).json()["error"]["code"] == "session_needed"


def test_workspaces_are_paged_and_searched_by_the_installations_admin(
    people: People, chief: User, client_of: Client
) -> None:
    path, client = "/api/installation/workspaces", client_of(chief)

    def slugs(query: str) -> list[str]:
        page = client.get(f"{path}?{query}").json()
        assert page["count"] >= len(page["results"])
        return [each["slug"] for each in page["results"]]

    people.other_workspace.name = "About orders"
    people.other_workspace.save()
    assert slugs("page_size=2") == ["other", "chiefs"]
    assert slugs("page_size=2&page=2") == ["main"]
    assert slugs("search=ORD") == ["other"]
    assert slugs("search=oth+about") == ["other"]
    assert slugs("search=nothing") == []
    assert client_of(people.admin).get(f"{path}?search=ord").status_code == 403


@pytest.mark.kafka
def test_topics_outside_of_the_prefixes_are_not_listed(
    people: People, chief: User, client_of: Client, broker: Any, millrace_settings: Any
) -> None:
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address
    application = "app-listed-KSTREAM-AGGREGATE-STATE-STORE-0000000003"
    others = {"hidden-here", f"{application}-changelog", f"{application}-repartition"}
    cluster.create_missing(dict.fromkeys({"listed-here", *others}, 1))
    topics.produce(broker.address, "listed-here", [{"value": "v"}])
    topics.consume(broker.address, "listed-here", 1)  # a group creates Kafka's internal topic

    def listed() -> set[str]:
        found = client_of(people.viewer).get("/api/workspaces/main/topics").json()
        return {topic["name"] for topic in found}

    assert "__consumer_offsets" in kafka.admin().list_topics(timeout=10).topics
    assert {"listed-here", *others} <= listed()
    assert not any(name.startswith("__") for name in listed())
    actions.set_topic_prefixes(chief, people.workspace, ["listed-"])
    assert listed() == {"listed-here"}


@pytest.mark.parametrize(
    "pattern",
    [".*", ".*-changelog", ".*listed-.*", "app-.*", "__consumer_.*", "listed-.*|__.*",
     "_?_?listed-.*"],
)  # fmt: skip
def test_no_pattern_of_a_workspace_with_prefixes_matches_internal_topics(pattern: str) -> None:
    assert places(using(pattern=pattern, writes="listed-x"), "listed-") == [("in", "topic_pattern")]


def test_a_version_with_a_topic_outside_of_the_prefixes_is_not_run(
    people: People, chief: User
) -> None:
    made = topologies.create_topology(
        people.editor, people.workspace, "Sums", using(reads=["orders-a"], writes="sums")
    )
    row = deployments.create_deployment(people.operator, made, 1, "local", {})
    found = reconciling.load_for_reconcile(row.pk)
    assert found is not None
    assert found.forbidden is None
    actions.set_topic_prefixes(chief, people.workspace, ["orders-"])
    found = reconciling.load_for_reconcile(row.pk)
    assert found is not None
    assert found.forbidden is not None
    assert (found.forbidden.node, found.forbidden.parameter) == ("out", "topic")
    assert "“sums” is not allowed" in found.forbidden.message
    assert found.forbidden.facts == {"topic": "sums", "prefixes": "orders-…"}


def test_compiling_shows_at_which_node_a_topic_is_not_allowed(
    people: People, chief: User, client_of: Client, millrace_settings: Any
) -> None:
    millrace_settings.MILLRACE_ANALYZER = "/nowhere"
    actions.set_topic_prefixes(chief, people.workspace, ["orders-"])
    body = {"document": using(writes="sums")}
    found = client_of(people.editor).post("/api/workspaces/main/compile", body).json()
    refused = [each for each in found["diagnostics"] if each["code"] == "topic_not_allowed"]
    assert [(each["node"], each["parameter"], each["blocks"]) for each in refused] == [
        ("out", "topic", "deploy")
    ]
    assert refused[0]["facts"] == {"topic": "sums", "prefixes": "orders-…"}
