"""A deployment with its checkpoint in S3, which `./millrace up` configures by variables alone."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import unused_port
from tests.e2e.api import Api
from tests.e2e.system import OWN_SYSTEM, running_system
from tests.e2e.test_recovery import DOCUMENT, SINK, SOURCE, TO_RUNNING
from tests.e2e.topics import CountReader, Sentence, create_topic, words, write
from tests.runtime import s3

pytestmark = [*OWN_SYSTEM, pytest.mark.long]

PLACE = f"s3a://{s3.BUCKET}/deployments"


def changed() -> dict[str, Any]:
    """The document with a repartition before the store, so that its state is migrated."""
    spread = {"id": "spread", "kind": "repartition", "params": {"partitions": 3}}
    edges = [each for each in DOCUMENT["edges"] if each["source"] != "words"]
    edges += [
        {"source": "words", "target": "spread"},
        {"source": "spread", "target": "count"},
    ]
    return {**DOCUMENT, "nodes": [*DOCUMENT["nodes"], spread], "edges": edges}


def test_state_in_s3_outlives_a_kill_and_a_change(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("stored")
    with (
        s3.server(folder / "s3") as store,
        running_system(folder, unused_port(), {**os.environ, **store.environment}) as system,
        Api(system.address, system.link) as api,
    ):
        for topic in (SOURCE, SINK):
            create_topic(system.bootstrap_servers, topic, 2)
        written: list[Sentence] = []
        deployment = api.deploy("Stored", DOCUMENT, checkpoint=PLACE)
        reader = CountReader(system.bootstrap_servers, SINK)

        def counted(value: str) -> None:
            some = [Sentence(0, 1_000, value, "key")]
            write(system.bootstrap_servers, SOURCE, some)
            written.extend(some)
            reader.until_counted(words(written), TO_RUNNING)

        counted("one two")
        first = api.until(deployment, "running", TO_RUNNING)
        os.kill(first["run"]["pid"], signal.SIGKILL)
        counted("two three")

        body = {"document": changed(), "message": "next", "base_version": 1}
        api.call("POST", f"/topologies/{first['topology']}/versions", body)
        api.call("POST", f"/deployments/{deployment}/redeploy", {"version": 2})
        counted("three")
        running_version(api, deployment, 2)
        counted("three four")
        old_state_is_deleted(api, deployment, system.data)
        reader.close()
        api.call("POST", f"/deployments/{deployment}/stop")
        api.until(deployment, "stopped", 90)


def old_state_is_deleted(api: Api, deployment: int, data: Path) -> None:
    """Old state is listed with its size and can be deleted after a day."""
    path = f"/deployments/{deployment}/old-state"
    [left] = api.answer("GET", path, TO_RUNNING)
    assert (left["name"], left["version"]) == ("stream", 1)
    assert left["bytes"] > 1_000
    notes = data / f"deployments/{deployment}/checkpoint/stores.json"
    noted = json.loads(notes.read_text())
    noted["kept"][0]["left"] = "20200101T000000000000Z"
    notes.write_text(json.dumps(noted))
    api.call("DELETE", f"{path}/stream")
    assert api.call("GET", path) == []


def running_version(api: Api, deployment: int, version: int) -> dict[str, Any]:
    deadline = time.monotonic() + TO_RUNNING
    while True:
        found = api.until(deployment, "running", TO_RUNNING)
        if found["run"] and found["run"]["version"] == version:
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.3)
