"""`./millrace deploy`, `scale` and `old-state`: what they run on the server."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from accounts.models import AuditEntry
from deployments import reconciling
from deployments.models import Deployment
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone
from millrace_backend.commands import ProjectCommand
from topologies.actions import save_version

from launcher import deployments as launched
from launcher import places

from .conftest import Client, People
from .test_state_plan import running, summing

__all__ = ["running"]


def ran(name: str, *words: str) -> str:
    out = io.StringIO()
    call_command(name, *words, stdout=out)
    return out.getvalue()


def test_a_plan_is_shown_and_nothing_is_changed(running: Deployment) -> None:
    shown = ran("millrace_deploy", str(running.pk), "--to", "2", "--plan").splitlines()
    assert shown == [
        "Sums: version 1 -> 2",
        "Stores",
        "  sum  migrated    value_widened",
        "Sources",
        "  in  continues",
        "The new driver is prepared while the old one runs, then takes over.",
    ]
    running.refresh_from_db()
    assert running.version.number == 1
    plan = json.loads(ran("millrace_deploy", str(running.pk), "--to", "2", "--plan", "--json"))
    assert (plan["before"], plan["version"], plan["accepted"]) == (1, 2, True)


def test_a_version_that_loses_state_is_deployed_once_that_is_decided(
    running: Deployment, people: People
) -> None:
    words = [str(running.pk), "--to", "4", "--user", "operator"]
    for more in ([], ["--plan"], ["--drop", "total"]):
        with pytest.raises(CommandError, match="cannot use the state of sum"):
            ran("millrace_deploy", *words, *more)
    with pytest.raises(CommandError, match="The plan has no store other"):
        ran("millrace_deploy", *words, "--drop", "sum", "--drop", "other")
    ran("millrace_deploy", *words, "--drop", "sum")
    found = reconciling.load_for_reconcile(running.pk)
    assert found is not None
    assert (found.version, found.fallback, found.state_decisions) == (4, 1, {"sum": "drop"})
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.actor) == ("deployment.redeploy", people.operator)


def test_the_newest_version_is_deployed_with_converted_values(
    running: Deployment, people: People
) -> None:
    save_version(people.editor, running.topology, summing("STRING"), "back", 4)
    words = [str(running.pk), "--convert"]
    with pytest.raises(CommandError, match="STORE=EXPRESSION, not sum"):
        ran("millrace_deploy", *words, "sum")
    with pytest.raises(CommandError, match="no column old_ is there"):
        ran("millrace_deploy", *words, "sum=CAST(old_ AS STRING)")
    ran("millrace_deploy", *words, "sum=CAST(old AS STRING)")
    running.refresh_from_db()
    assert running.version.number == 5
    assert running.state_decisions == {"sum": {"convert": "CAST(old AS STRING)"}}


def test_a_document_is_saved_as_a_version_when_it_is_deployed(
    running: Deployment, tmp_path: Path
) -> None:
    file = tmp_path / "sums.json"
    words = [str(running.pk), "--user", "admin", "--document", str(file)]
    for text, says in (
        ("{", "cannot be read"),
        ("[]", "A topology document is a JSON object"),
        (json.dumps({**summing("INT"), "nodes": []}), "does not compile"),
    ):
        file.write_text(text)
        with pytest.raises(CommandError, match=says):
            ran("millrace_deploy", *words)
    file.write_text(json.dumps(summing("INT", "total")))  # the document of the newest version
    assert "version 1 -> 4" in ran("millrace_deploy", *words, "--plan", "--drop", "sum")
    file.write_text(json.dumps(summing("BIGINT") | {"description": "As BIGINT"}))
    assert "version 1 -> 5" in ran("millrace_deploy", *words, "--plan")
    assert running.topology.versions.count() == 4
    ran("millrace_deploy", *words)
    running.refresh_from_db()
    assert (running.version.number, running.version.message) == (5, "From sums.json")
    assert running.version.document["description"] == "As BIGINT"


PROGRAM = """
from millrace_runtime import Topology, string

topology = Topology("sums")
rows = topology.stream("in", key=string(), value=string())
sums = rows.group_by_key().aggregate("TYPE", initializer="null", aggregator="agg", name="sum")
sums.to_stream().to("out")
"""


def test_a_program_is_deployed_and_its_errors_name_its_lines(
    running: Deployment, tmp_path: Path
) -> None:
    file = tmp_path / "sums.py"
    words = [str(running.pk), "--user", "admin", f"--document={file}"]
    file.write_text(PROGRAM.replace("TYPE", "STRANGE"))
    with pytest.raises(CommandError, match=r"^sums\.py, line 6: Version 5 does not compile: sum "):
        ran("millrace_deploy", *launched._documents(words, tmp_path))
    file.write_text(PROGRAM.replace("TYPE", "INT"))
    ran("millrace_deploy", *launched._documents(words, tmp_path))
    running.refresh_from_db()
    assert (running.version.number, running.version.message) == (5, "From sums.py")


@pytest.mark.parametrize("plan", [[], ["--plan"]])
def test_a_program_with_errors_is_refused_before_any_state_exists(
    running: Deployment, tmp_path: Path, plan: list[str]
) -> None:
    (running.directory / "checkpoint" / "stores.json").unlink()
    file = tmp_path / "sums.py"
    words = [str(running.pk), "--user", "admin", f"--document={file}", *plan]
    file.write_text(PROGRAM.replace("TYPE", "STRANGE"))
    with pytest.raises(CommandError, match=r"^sums\.py, line 6: Version 5 does not compile: sum "):
        ran("millrace_deploy", *launched._documents(words, tmp_path))
    assert running.topology.versions.count() == 4, "it was not saved"
    running.refresh_from_db()
    assert running.version.number == 1


def test_scaling_keeps_version_and_state_and_shows_what_it_does(
    running: Deployment, people: People
) -> None:
    Deployment.objects.filter(pk=running.pk).update(
        settings={"trigger_ms": 500, "memory_mb": 2048}, restart_requested_at=None
    )
    words = [str(running.pk), "--cores", "3", "--memory", "1024", "--user", "operator"]
    shown = ran("millrace_scale", *words, "--plan")
    assert shown.splitlines() == [
        "cores: all -> 3",
        "memory, MB: 2048 -> 1024",
        "A driver with these settings is prepared, then takes over; state is kept.",
    ]
    running.refresh_from_db()
    assert running.settings == {"trigger_ms": 500, "memory_mb": 2048}
    ran("millrace_scale", *words)
    found = reconciling.load_for_reconcile(running.pk)
    assert found is not None
    assert found.settings == {"trigger_ms": 500, "memory_mb": 1024, "cores": 3}
    assert (found.version, found.fallback, found.restart_requested) == (1, 1, True)
    assert (found.beginning, found.state_decisions) == (None, {})
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.actor) == ("deployment.redeploy", people.operator)


def test_scaling_shows_when_the_driver_has_to_be_stopped_first(running: Deployment) -> None:
    words = [str(running.pk), "--memory", "900000", "--plan"]
    last = ran("millrace_scale", *words).splitlines()[-1]
    assert "needs 900,768 MB of memory" in last
    assert last.endswith("State is kept.")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Set --cores, --memory or both"),
        (["--cores", "0"], "cores: 1 or more, not 0"),
        (["--memory", "100"], "memory, MB: 512 or more, not 100"),
        (["--cores", "2", "--user", "nobody"], "has no member 'nobody'"),
        (["--cores", "2", "--user", "viewer"], "operator"),
    ],
)
def test_scaling_is_refused_in_a_sentence(running: Deployment, words: list[str], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        ran("millrace_scale", str(running.pk), *words)


def test_a_deployment_that_does_not_run_is_not_scaled(
    running: Deployment, people: People, client_of: Client
) -> None:
    path = f"/api/deployments/{running.pk}/scale"
    assert client_of(people.operator).post(path, {}).status_code == 400
    assert client_of(people.operator).post(path, {"cores": 0}).status_code == 400
    assert client_of(people.operator).post(path, {"cores": 2}).json()["settings"] == {"cores": 2}
    reconciling.observe(running.pk, "stopped")
    refused = client_of(people.operator).post(path, {"cores": 4})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_running")
    with pytest.raises(CommandError, match="There is no deployment 999"):
        ran("millrace_scale", "999", "--cores", "2")


@pytest.fixture
def left(running: Deployment) -> str:
    """The name of state that was left three days ago; other state was left an hour ago."""
    folder = running.directory / "checkpoint"
    names = [f"{timezone.now() - timedelta(hours=hours):%Y%m%dT%H%M%S%fZ}" for hours in (72, 1)]
    streams = ["stream", *(f"stream-{name}" for name in names)]
    for each in streams:
        (folder / each).mkdir()
        (folder / each / "data").write_text("x" * 1_500)
    kept = [{"stream": stream, "batch": 3, "left": name}
            for stream, name in zip(streams, names, strict=False)]  # fmt: skip
    (folder / "stores.json").write_text(json.dumps({"stream": streams[2], "kept": kept}))
    return streams[1]


def test_old_state_is_listed_with_its_size_and_age(running: Deployment, left: str) -> None:
    lines = ran("millrace_old_state", str(running.pk)).splitlines()
    assert [line.split()[0] for line in lines] == ["STATE", left, "stream"]
    assert "1.5 kB" in lines[1]
    assert "1 hour ago" in lines[1]
    assert "kept until" in lines[1]
    assert lines[2].endswith("3 days ago")
    listed = json.loads(ran("millrace_old_state", str(running.pk), "--json"))
    assert [(each["name"], each["bytes"]) for each in listed] == [(left, 1_500), ("stream", 1_500)]


def test_old_state_is_deleted_once_the_topology_is_named(
    running: Deployment, left: str, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = running.directory / "checkpoint"
    words = [str(running.pk), "--user", "operator", "--delete"]
    with pytest.raises(CommandError, match="'Sum' is not the name of the topology"):
        ran("millrace_old_state", *words, "stream", "--name", "Sum")
    with pytest.raises(CommandError, match="kept for at least a day"):
        ran("millrace_old_state", *words, left, "--name", "Sums")
    with pytest.raises(CommandError, match="has no old state 'other'"):
        ran("millrace_old_state", *words, "other", "--name", "Sums")
    assert (folder / "stream").is_dir()
    monkeypatch.setattr("sys.stdin", io.StringIO("Sums\n"))
    printed = ran("millrace_old_state", *words, "stream")
    assert printed.endswith("delete it permanently: Deleted stream (1.5 kB).\n")
    assert not (folder / "stream").exists()
    assert (folder / left).is_dir()
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.actor) == ("deployment.delete_old_state", people.operator)
    (folder / "stores.json").unlink()
    assert "has no old state" in ran("millrace_old_state", str(running.pk))


def test_the_commands_of_the_launcher_find_the_parts_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_DATA", str(tmp_path))
    assert "REDIS_URL" not in launched.environment()
    run = tmp_path / "run"
    run.mkdir()
    (run / "ports.json").write_text('{"redis": 7001, "broker": 7002}')
    (run / "redis-password").write_text("secret\n")
    (run / "state.json").write_text('{"address": "http://127.0.0.1:9000"}')
    found = launched.environment()
    assert found["REDIS_URL"] == "redis://:secret@127.0.0.1:7001/0"
    assert found["KAFKA_BOOTSTRAP_SERVERS"] == "127.0.0.1:7002"
    assert found["MILLRACE_PUBLIC_URL"] == "http://127.0.0.1:9000", "links lead to this port"
    assert found["MILLRACE_ANALYZER"] == str(run / "services" / "analyzer")


def test_a_deployment_that_is_not_there_is_a_sentence_and_an_exit_code(tmp_path: Path) -> None:
    environment: Any = {**os.environ, "MILLRACE_DATA": str(tmp_path), "MILLRACE_RESIDENT": "0"}
    environment["DATABASE_URL"] = f"sqlite:///{tmp_path}/none.sqlite3"
    done = subprocess.run(
        [sys.executable, "-m", "launcher.main", "scale", "7"],
        cwd=places.REPOSITORY, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("The database cannot be read")
    assert "Traceback" not in done.stderr


class _Refused(ProjectCommand):
    requires_system_checks = ()

    def handle(self, *_: Any, **__: Any) -> None:
        raise CommandError("There is no workspace.", returncode=3)


def test_the_error_of_a_command_is_printed_alone_or_raised(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="3"):
        _Refused().run_from_argv(["manage.py", "refused"])
    assert capsys.readouterr().err == "There is no workspace.\n"
    with pytest.raises(CommandError):
        _Refused().run_from_argv(["manage.py", "refused", "--traceback"])
    with pytest.raises(CommandError):
        call_command(_Refused())
