"""The backend with PostgreSQL, which servers use instead of SQLite."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import socket

import pytest

pytestmark = pytest.mark.services

ROOT = Path(__file__).parents[2]
#: run by a process of its own, since the tests' process has another database
WRITES = """
import django; django.setup()
from django.core.management import call_command; call_command("migrate", verbosity=0)
from accounts.models import User, Workspace
from deployments.models import Deployment
from django.db import IntegrityError, connection
from django.test import Client
from django.utils import timezone
from topologies.models import Topology, Version, hash_of

assert connection.vendor == "postgresql"
ada = User.objects.create_user("ada", password="mill-race-7")
place = Workspace.objects.create(name="Main", slug="main")
topology = Topology.objects.create(workspace=place, name="T", updated_at=timezone.now())
given = {"name": "T", "format": {"longer": -0.0, "short": 1e22, "b": [1, 2.50, "x"], "a": None}}
version = Version.objects.create(topology=topology, number=1, document=given)
found = Version.objects.get(pk=version.pk)
assert str(found.document) == str(given), found.document
assert hash_of(found.document) == found.hash

values = {"workspace": place, "topology": topology, "version": version}
Deployment.objects.create(**values, settings={"environment": "prod"})
Deployment.objects.create(**values, settings={})
try:
    Deployment.objects.create(**values, settings={"environment": "prod"})
except IntegrityError as error:
    print(type(error).__name__)

# A proxy that connects by a Unix socket has no address.
client = Client()
client.force_login(ada)
print(client.get("/api/session", REMOTE_ADDR="", headers={"host": "localhost"}).status_code)
"""


@pytest.fixture
def database() -> Iterator[str]:
    """The address of an empty database, on a server of its own."""
    found = shutil.which("pg_ctl")
    if found is None:
        pytest.skip("PostgreSQL is not installed")
    user = "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    with closing(socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="postgresql-"))
    if os.getuid() == 0:
        shutil.chown(folder, user)
    data = folder / "data"

    def control(*arguments: str) -> None:
        command = [found, "-D", str(data), *arguments]
        subprocess.run(command, user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    try:
        control("initdb", "-o", "-U millrace --auth=trust --no-sync")
        control("start", "-w", "-l", f"{folder}/log", "-o", f"-p {port} -k {folder} -F")
        try:
            yield f"postgresql://millrace@127.0.0.1:{port}/postgres"
        finally:
            control("stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder)


def test_postgresql_keeps_documents_and_the_rules_of_the_database(database: str) -> None:
    places = [ROOT / each for each in ("backend", "compiler", "runtime", "workers")]
    environment = os.environ | {
        "DATABASE_URL": database,
        "DJANGO_SETTINGS_MODULE": "millrace_backend.settings",
        "PYTHONPATH": os.pathsep.join(map(str, places)),
    }

    done = subprocess.run(
        [sys.executable, "-c", WRITES],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["IntegrityError", "200"], done.stderr
