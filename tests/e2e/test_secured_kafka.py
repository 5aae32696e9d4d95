"""A whole system on a Kafka that requires a login: topics, records, a deployment, a generator."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CLIENT_VARIABLES, unused_port
from tests.e2e.api import Api
from tests.e2e.system import OWN_SYSTEM, running_system

pytestmark = [*OWN_SYSTEM, pytest.mark.long]

SOURCE, SINK = "secured-words", "secured-counts"
TEXT = {"format": "string"}
COUNTING: dict[str, Any] = {
    "format": "millrace.topology/1",
    "name": "secured",
    "settings": {"processing_guarantee": "exactly_once"},
    "topics": {SOURCE: {"partitions": 1}, SINK: {"partitions": 1}},
    "nodes": [
        {
            "id": "words",
            "kind": "source.stream",
            "params": {"topics": [SOURCE], "key": TEXT, "value": TEXT, "start": "earliest"},
        },
        {"id": "count", "kind": "count", "params": {"group_by": {"key": "value"}}},
        {"id": "updates", "kind": "to_stream", "params": {}},
        {"id": "out", "kind": "sink.topic", "params": {"topic": SINK}},
    ],
    "edges": [
        {"source": "words", "target": "count"},
        {"source": "count", "target": "updates"},
        {"source": "updates", "target": "out"},
    ],
}


def eventually(found: Callable[[], Any], seconds: float) -> Any:
    """Wait until `found` returns something true, and return it."""
    until = time.monotonic() + seconds
    while not (now := found()):
        assert time.monotonic() < until
        time.sleep(0.5)
    return now


def test_topics_are_created_written_read_and_processed_with_a_login(
    broker: Any, tmp_path: Path
) -> None:
    machine = {**os.environ, **CLIENT_VARIABLES}
    with (
        running_system(tmp_path, unused_port(), machine, kafka=broker.secured) as system,
        Api(system.address, system.link) as api,
    ):
        deployment = api.deploy("secured", COUNTING)
        api.until(deployment, "running", 120)
        topics = "/workspaces/main/topics"
        for word in ("open", "sesame", "open"):
            api.call("POST", f"{topics}/{SOURCE}/records", {"value": {**TEXT, "text": word}})

        def counts() -> list[str]:
            page = api.call("GET", f"{topics}/{SINK}/records")
            return [each["key"]["text"] for each in page["records"]]

        assert sorted(eventually(lambda: found if len(found := counts()) == 3 else None, 60)) == [
            *("open", "open", "sesame")
        ]
        log = (system.data / "deployments" / str(deployment)).rglob("*.log")
        texts = [each.read_text(errors="replace") for each in log]
        assert texts
        assert not any("open=sesame" in text for text in texts)
