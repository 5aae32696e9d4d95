"""Environment, secret key, system checks, set-up and sample commands, the page's files."""

from __future__ import annotations

import io
import json
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from accounts.actions import redeem_sign_in_link
from accounts.models import User, Workspace
from deployments import actions as deployment_actions
from deployments.models import Deployment
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.http import HttpResponse
from django.test import Client as DjangoClient
from millrace_backend import checks, environment
from millrace_backend.middleware import PageMiddleware
from records import generators, trying
from records.models import Generator
from topologies.models import Topology


def test_the_secret_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "secret.key"
    key = environment.secret_key(path)
    assert len(key) >= 50
    assert environment.secret_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["secret.key"]


def test_the_key_file_of_the_container_is_the_backends_alone() -> None:
    assert environment.read({"MILLRACE_DATA": "/d"}).secret_file == Path("/d/secret.key")
    given = environment.read({"MILLRACE_DATA": "/d", "MILLRACE_SECRET_FILE": "/keys/k"})
    assert given.secret_file == Path("/keys/k")
    compose = Path(environment.REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8")
    parts = yaml.safe_load(compose)["services"]
    having = [name for name, part in parts.items() if "keys:/keys" in part.get("volumes", [])]
    assert having == ["backend"]
    for name in ("spark-master", "spark-worker"):
        assert not {"DATABASE_URL", "REDIS_URL"} & parts[name]["environment"].keys()


def test_a_secret_key_that_is_too_short_or_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret.key").write_text("short")
    with pytest.raises(ImproperlyConfigured, match="has 5 characters"):
        environment.secret_key(tmp_path / "secret.key")
    (tmp_path / "file").write_text("")
    with pytest.raises(ImproperlyConfigured, match="MILLRACE_DATA"):
        environment.secret_key(tmp_path / "file" / "secret.key")


def test_the_database_is_sqlite_unless_the_environment_names_postgresql(tmp_path: Path) -> None:
    here = environment.read({"MILLRACE_DATA": str(tmp_path)})
    found = environment.database(here)
    assert found["NAME"] == str(tmp_path / "db.sqlite3")
    assert "journal_mode=WAL" in found["OPTIONS"]["init_command"]
    url = "postgresql://ada:p%40ss@db:5433/mill?sslmode=require"
    found = environment.database(environment.read({"DATABASE_URL": url}))
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert (found["USER"], found["PASSWORD"], found["HOST"]) == ("ada", "p@ss", "db")
    assert (found["PORT"], found["NAME"]) == ("5433", "mill")
    assert found["OPTIONS"] == {"sslmode": "require"}
    with pytest.raises(ImproperlyConfigured, match="'mysql'"):
        environment.database(environment.read({"DATABASE_URL": "mysql://x/y"}))


def test_requests_for_the_public_address_and_named_hosts_are_answered() -> None:
    here = environment.read(
        {"MILLRACE_PUBLIC_URL": "https://mill.example.org/", "MILLRACE_HOSTS": "a, b,"}
    )
    assert here.public_url == "https://mill.example.org"
    assert environment.allowed_hosts(here)[3:] == ["mill.example.org", "a", "b"]


def test_the_system_checks_name_what_is_wrong_with_the_environment(
    millrace_settings: Any, tmp_path: Path
) -> None:
    assert checks.check_addresses() == []
    millrace_settings.REDIS_URL = "http://wrong"
    millrace_settings.MILLRACE_PUBLIC_URL = "nowhere"
    millrace_settings.MILLRACE_ANALYZER = "host:port"
    found = [message.id for message in checks.check_addresses()]
    assert found == ["millrace.E002", "millrace.E003", "millrace.E004"]
    millrace_settings.MILLRACE_DATA = tmp_path / "absent"
    assert checks.check_data_folder()[0].id == "millrace.E001"
    millrace_settings.MILLRACE_PAGE = tmp_path
    assert checks.check_page()[0].id == "millrace.W002"


@pytest.mark.django_db
def test_set_up_makes_the_first_admin_once_and_a_new_link_each_time() -> None:
    links = []
    for _ in range(2):
        out = io.StringIO()
        call_command("millrace_setup", "--json", stdout=out)
        links.append(json.loads(out.getvalue())["sign_in_link"])
    assert links[0] != links[1]
    assert User.objects.count() == 1
    assert Workspace.objects.get().slug == "main"
    user = redeem_sign_in_link(links[1].rsplit("/", 1)[1])
    assert user.memberships.get().role == "admin"
    out = io.StringIO()
    call_command("millrace_setup", stdout=out)
    assert out.getvalue().startswith("Sign in once as admin: http://127.0.0.1:8000/sign-in/")
    out = io.StringIO()
    call_command("millrace_setup", "--no-link", stdout=out)
    assert out.getvalue() == ""


@pytest.mark.django_db
def test_the_sample_is_made_and_deployed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    needed: list[dict[str, int]] = []

    def create(_workspace: int, topics: dict[str, int], _retention: dict[str, int]) -> list[str]:
        needed.append(topics)
        return list(topics)

    monkeypatch.setattr(deployment_actions, "create_within_quota", create)
    monkeypatch.setattr(generators, "described", lambda _topic: None)
    monkeypatch.setattr(trying, "existing_topics", set)
    with pytest.raises(CommandError, match="millrace_setup"):
        call_command("millrace_sample")
    call_command("millrace_setup", stdout=io.StringIO())
    for _ in range(2):
        call_command("millrace_sample", stdout=io.StringIO())
    assert needed[0] == {"sentences": 2, "word-counts": 2}
    assert Deployment.objects.get().topology.name == "Word count"
    assert Deployment.objects.get().topology.tests.count() == 2
    generator = Generator.objects.get()
    assert (generator.topic, generator.ends_at, generator.over(10**9)) == ("sentences", None, False)
    # A generator that was deleted does not come back.
    Generator.objects.all().delete()
    call_command("millrace_sample", stdout=io.StringIO())
    assert not Generator.objects.exists()
    Deployment.objects.all().delete()
    Topology.objects.all().delete()
    call_command("millrace_sample", stdout=io.StringIO())
    assert not Topology.objects.exists()


@pytest.fixture
def page(millrace_settings: Any, tmp_path: Path) -> Path:
    """The folder of a built page."""
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Millrace</title>")
    (folder / "assets" / "main-abc123.js").write_text("export {}")
    millrace_settings.MILLRACE_PAGE = folder
    return folder


def test_every_address_of_the_page_gets_the_page_with_a_content_policy(
    page: Path, db: None
) -> None:
    client = DjangoClient()
    for path in ("/", "/sign-in/abc", "/w/main/t/3"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert b"Millrace" in answer.content
        assert answer.headers["Cache-Control"] == "no-cache"
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "script-src" not in policy or "unsafe" not in policy.split("script-src")[1]
        assert answer.headers["X-Frame-Options"] == "DENY"
    assert client.get("/missing.js").status_code == 404
    assert client.post("/").status_code == 405


@pytest.mark.parametrize("path", ["/admin/", "/admin/login/", "/static/admin/css/base.css"])
def test_there_is_no_second_way_to_sign_in(path: str, page: Path, db: None) -> None:
    client = DjangoClient()
    answer = client.get(path)
    assert b"password" not in answer.content
    assert (answer.status_code, b"<title>Millrace</title>" in answer.content) in {
        (200, True),
        (404, False),
    }
    assert client.post(path, {"username": "admin", "password": "x"}).status_code in {404, 405}


def test_hashed_files_are_kept_by_browsers_for_good(page: Path, rf: Any) -> None:
    serve = PageMiddleware(lambda _request: None)
    answer = serve(rf.get("/assets/main-abc123.js"))
    assert answer.content == b"export {}"
    assert "immutable" in answer.headers["Cache-Control"]
    assert "javascript" in answer.headers["Content-Type"]


def test_a_page_that_is_built_again_is_served_by_the_running_system(page: Path, rf: Any) -> None:
    serve = PageMiddleware(lambda _request: HttpResponse(status=404))
    old, new = page / "assets" / "main-abc123.js", page / "assets" / "main-def456.js"
    assert serve(rf.get(f"/assets/{old.name}")).status_code == 200
    old.unlink()
    assert serve(rf.get(f"/assets/{old.name}")).status_code == 404
    new.write_text("export {};")
    assert serve(rf.get(f"/assets/{new.name}")).content == b"export {};"
    assert serve(rf.get(f"/assets/{old.name}")).status_code == 404
    shutil.rmtree(page)
    assert serve(rf.get(f"/assets/{new.name}")).status_code == 404


def test_built_files_and_answers_are_compressed_for_who_takes_that(
    page: Path, rf: Any, db: None
) -> None:
    script = page / "assets" / "main-abc123.js"
    # The browser gets the smallest copy that it accepts.
    for ending, text in (("gz", "gzip"), ("br", "br")):
        script.with_name(f"{script.name}.{ending}").write_text(text)
    serve = PageMiddleware(lambda _request: None)
    for accepted, encoding, content in (
        ("gzip, deflate", "gzip", b"gzip"),
        ("gzip, deflate, br, zstd", "br", b"br"),
        ("identity", None, b"export {}"),
    ):
        answer = serve(rf.get("/assets/main-abc123.js", HTTP_ACCEPT_ENCODING=accepted))
        assert answer.headers.get("Content-Encoding") == encoding
        assert answer.content == content
        assert "immutable" in answer.headers["Cache-Control"]
        assert "Accept-Encoding" in answer.headers["Vary"]
    catalog = DjangoClient().get("/api/schema", headers={"Accept-Encoding": "gzip"})
    assert catalog.headers["Content-Encoding"] == "gzip"


def test_without_a_built_page_the_answer_shows_what_to_do(
    millrace_settings: Any, tmp_path: Path, db: None
) -> None:
    millrace_settings.MILLRACE_PAGE = tmp_path / "nothing"
    answer = DjangoClient().get("/")
    assert answer.status_code == 503
    assert b"./millrace up" in answer.content
