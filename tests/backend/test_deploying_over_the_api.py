"""`deploy --server`: a document or a program is deployed over the API of a server, with a token."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from accounts.actions import create_token
from accounts.models import User
from deployments.models import Deployment
from django.utils import timezone
from topologies.models import Draft

from cli.main import main
from cli.programs import programs

from .conftest import Client, People
from .test_deployment_commands import PROGRAM
from .test_state_plan import running, summing

__all__ = ["running"]

pytestmark = pytest.mark.django_db(transaction=True)
Deploy = Callable[..., tuple[int, str, str]]


@pytest.fixture
def deploy(
    running: Deployment, people: People, settings: Any, request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> Deploy:  # fmt: skip
    """Run the command as one of the people: exit code, output and errors."""
    settings.STATIC_URL = "/static/"  # which Django's server for tests needs
    monkeypatch.setenv("MILLRACE_SERVER", request.getfixturevalue("live_server").url)

    def run(*words: str, as_: User | None = None, code: int = 0) -> tuple[int, str, str]:
        monkeypatch.setenv("MILLRACE_TOKEN", create_token(as_ or people.operator, "ci", 1)[1])
        capsys.readouterr()
        programs.forget()  # a command reads a program once
        found = main(["deploy", str(running.pk), *words])
        printed = capsys.readouterr()
        assert found == code, printed.err
        return found, printed.out, printed.err

    return run


def test_a_version_is_planned_decided_and_deployed(running: Deployment, deploy: Deploy) -> None:
    _, shown, _ = deploy("--to", "2", "--plan")
    assert shown.splitlines()[:3] == [
        "Sums: version 1 -> 2", "Stores", "  sum  migrated    value_widened",
    ]  # fmt: skip
    _, shown, told = deploy(code=1)
    assert "version 1 -> 4" in shown
    assert told.startswith("Version 4 cannot use the state of sum.")
    assert "no store other" in deploy("--drop", "other", code=1)[2]
    running.refresh_from_db()
    assert running.version.number == 1
    assert "Version 4 is being deployed on http://" in deploy("--drop", "sum")[2]
    running.refresh_from_db()
    assert running.version.number == 4


def test_a_program_becomes_a_version_and_errors_name_its_lines(
    running: Deployment, people: People, deploy: Deploy, tmp_path: Path
) -> None:
    file = tmp_path / "sums.py"
    file.write_text(PROGRAM.replace("TYPE", "STRANGE"))
    _, _, told = deploy("--document", str(file), as_=people.operator, code=1)
    assert told.startswith("sums.py, line 6: Version 5 does not compile: sum ")
    file.write_text(PROGRAM.replace("TYPE", "INT"))
    _, shown, _ = deploy("--document", str(file), "--plan", "--json")
    assert json.loads(shown)["version"] == 5
    assert running.topology.versions.count() == 4

    drawn = {"document": summing("INT"), "updated_at": timezone.now()}
    Draft.objects.create(topology=running.topology, user=people.operator, **drawn)
    deploy("--document", str(file))
    running.refresh_from_db()
    assert (running.version.number, running.version.message) == (5, "From sums.py")
    assert Draft.objects.count() == 1
    assert "version 1 -> 5" in deploy("--document", str(file), "--plan")[1]


def test_what_the_server_refuses_is_told_in_its_words(
    running: Deployment, people: People, deploy: Deploy, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert "operator" in deploy("--to", "2", as_=people.viewer, code=1)[2].lower()
    assert deploy("--to", "9", code=1)[2].startswith("This topology has no version 9.")
    monkeypatch.setenv("MILLRACE_TOKEN", "mr_unknown")
    assert main(["deploy", str(running.pk)]) == 1
    assert "Check the token" in capsys.readouterr().err
    monkeypatch.setenv("MILLRACE_SERVER", "http://127.0.0.1:9")
    assert main(["deploy", str(running.pk)]) == 2
    assert "The server http://127.0.0.1:9 does not respond" in capsys.readouterr().err
    monkeypatch.delenv("MILLRACE_TOKEN")
    assert main(["deploy", str(running.pk)]) == 2
    assert "MILLRACE_TOKEN" in capsys.readouterr().err


def test_the_plan_of_a_document_that_is_not_saved(
    running: Deployment, people: People, client_of: Client
) -> None:
    path = f"/api/deployments/{running.pk}/plan"
    client = client_of(people.viewer)
    plan = client.post(path, {"document": summing("BIGINT") | {"description": "new"}}).json()
    assert (plan["before"], plan["version"], plan["accepted"]) == (1, 5, True)
    assert client.post(path, {"document": summing("INT", "total")}).json()["version"] == 4
    for given in ({}, {"version": 2, "document": summing("INT")}):
        assert client.post(path, given).status_code == 400


def test_a_redirection_does_not_get_the_token(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{server.server_port}/stolen")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("MILLRACE_TOKEN", "mr_secret")
        assert main(["deploy", "1", "--server", f"http://127.0.0.1:{server.server_port}"]) == 1
        server.shutdown()
    assert asked == ["/api/deployments/1"]
    assert "The server answers 302" in capsys.readouterr().err
