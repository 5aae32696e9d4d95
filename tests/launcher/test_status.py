"""`./millrace status`: the addresses of the running system."""

from __future__ import annotations

import fcntl
import json
import os
import re
from pathlib import Path

import pytest

from launcher import control, places
from launcher.supervisor import Running, Service, Supervisor

NOTES = {"address": "http://127.0.0.1:8000", "kafka": "127.0.0.1:9092"}


async def _never(_running: Running) -> bool:
    return False


def test_status_shows_where_the_page_and_kafka_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MILLRACE_DATA", str(tmp_path))
    places.run().mkdir()
    system = Supervisor(places.run(), places.logs(), notes=NOTES)
    lazy = Service("analyzer", ["analyzer"], _never)
    system.services["analyzer"] = Running(lazy, state="asleep")
    system._write_state()
    with (places.run() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(str(os.getpid()))
        lock.flush()
        assert control.status([]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith("http://127.0.0.1:8000 ")
        assert "  Kafka            127.0.0.1:9092\n" in shown
        assert re.search(r"^  analyzer +asleep", shown, re.MULTILINE)
        assert control.status(["--json"]) == 0
        assert json.loads(capsys.readouterr().out)["kafka"] == "127.0.0.1:9092"
