"""The answers of the page's benchmark: they are made from the description of the API."""

from __future__ import annotations

import pytest

from bench import _api
from bench._page_server import PageServer


def test_every_answer_has_what_the_api_describes() -> None:
    server = PageServer(20, 0.1)
    required = _api.description()["components"]["schemas"]["Runtime"]["required"]
    assert server.report().keys() >= set(required)
    assert server.answer("get", "/api/topologies/1")["node_count"] == 20
    assert server.answer("get", "/api/workspaces/main/alerts")["results"] == []


def test_a_value_or_an_operation_that_the_api_does_not_have_is_refused() -> None:
    with pytest.raises(KeyError, match="Topology has no colour"):
        _api.made("Topology", colour="red")
    with pytest.raises(KeyError, match="get /api/nothing"):
        _api.answer("get", "/api/nothing")
