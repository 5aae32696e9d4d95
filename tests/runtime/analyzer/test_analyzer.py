"""The analyzer: a server that returns the type of an expression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from millrace_services import local_services

from tests.served import running_analyzer, socket_path

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def path() -> Iterator[str]:
    with socket_path() as chosen, running_analyzer(chosen):
        yield chosen


def ask(path: str, request: dict[str, Any]) -> dict[str, Any]:
    return local_services.ask(path, request, 30)


def analyze(path: str, text: str, expects: str | None = None, **columns: str) -> dict[str, Any]:
    request = {"expressions": [{"text": text, "columns": columns, "expects": expects}]}
    found: dict[str, Any] = ask(path, request)["expressions"][0]
    return found


def test_an_expression_has_sparks_own_type(path: str) -> None:
    found = analyze(path, "value.a * 2", value="a DECIMAL(10,2), b STRING")
    assert found["type"].startswith("DECIMAL(")
    assert found["columns"] == ["value"]
    assert found["error"] is None


def test_a_narrower_type_is_accepted_where_a_wider_is_needed(path: str) -> None:
    assert analyze(path, "value + 1", "BIGINT", value="INT")["type"] == "BIGINT"
    assert analyze(path, "value", "INT", value="BIGINT")["error"]["message"]


def test_an_unknown_column_is_reported_with_its_place(path: str) -> None:
    error = analyze(path, "key = nope", key="STRING")["error"]
    assert (error["start"], error["stop"]) == (6, 10)
    assert "nope" in error["message"]


@pytest.mark.parametrize(
    "text", ["rand()", "current_timestamp()", "sum(value)", "explode(array(1))"]
)
def test_what_a_replay_would_not_repeat_is_refused(path: str, text: str) -> None:
    assert analyze(path, text, value="INT")["error"]["message"]


def test_a_request_without_sense_gets_an_answer_and_the_server_goes_on(path: str) -> None:
    assert "error" in ask(path, {"expressions": [{}]})
    assert analyze(path, "1")["type"] == "INT"


def test_a_signal_to_the_analyzer_and_its_jvm_ends_both_quietly(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """As when a system is stopped."""
    with socket_path() as chosen, running_analyzer(chosen) as process:
        for each in psutil.Process(process.pid).children(recursive=True):
            each.terminate()
        process.terminate()
        assert process.wait(30) == 0
    assert capfd.readouterr().err == ""
