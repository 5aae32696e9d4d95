"""Links in a deployment's folder, which its driver can create, lead the backend nowhere."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from deployments import comparing, files, old_state, plain_state, state_plan
from deployments.choices import ShadowStart
from deployments.logs import Filter, read_log
from deployments.models import Deployment, Shadow

from .conftest import Client, People

SECRET = "the key that signs sessions"
NOTES = {
    "stream": SECRET,
    "kept": [{"stream": "old", "left": "20260101T000000000000Z"}],
    "began": SECRET,
    "number": 7,
    "exact": None,
}

Plant = Callable[[Path, Path], None]


def file_link(place: Path, target: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


def folder_link(place: Path, target: Path) -> None:
    """Replace the folder of a file by a link to another one that has a file of this name."""
    place.parent.parent.mkdir(parents=True, exist_ok=True)
    elsewhere = target.parent / f"elsewhere-{place.name}"
    elsewhere.mkdir()
    (elsewhere / place.name).write_bytes(target.read_bytes())
    place.parent.symlink_to(elsewhere)


def pipe(place: Path, _target: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(place)


@pytest.fixture
def directory(deployment: Deployment) -> Path:
    deployment.directory.mkdir(parents=True)
    return deployment.directory


@pytest.fixture
def secret(millrace_settings: Any) -> Path:
    path = Path(millrace_settings.MILLRACE_DATA) / "secret.key"
    path.write_text(json.dumps(NOTES))
    return path


@pytest.mark.django_db
@pytest.mark.parametrize("plant", [file_link, folder_link, pipe])
@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("threads/1.txt", "/api/deployments/{}/runs/1/threads"),
        ("driver.log", "/api/deployments/{}/logs"),
        ("checkpoint/stores.json", "/api/deployments/{}/old-state"),
        ("checkpoint/stores.json", "/api/deployments/{}"),
    ],
)
def test_a_link_is_answered_without_what_it_leads_to(
    people: People, client_of: Client, deployment: Deployment, directory: Path, secret: Path,
    plant: Plant, place: str, path: str,
) -> None:  # fmt: skip
    if plant is folder_link and "/" not in place:
        directory.rmdir()
    plant(directory / place, secret)
    answer: Any = client_of(people.admin).get(path.format(deployment.pk))
    assert answer.status_code == (404 if "threads" in place else 200), answer.content
    assert SECRET not in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("plant", [file_link, folder_link, pipe])
def test_notes_behind_links_are_not_read(
    people: People, deployment: Deployment, directory: Path, secret: Path, plant: Plant
) -> None:
    places = ["checkpoint/stores.json", "checkpoint/shadow.json", "plain/current.json"]
    for place in places:
        if not (directory / place).parent.is_symlink():
            plant(directory / place, secret)
    plant(directory / "arrived" / "arrived", secret)
    assert state_plan.checkpoint_notes(deployment) is None
    assert old_state.old_states(deployment) == []
    shadow = Shadow(deployment=deployment, of=deployment, start=ShadowStart.values[0], suffix="-x")
    assert shadow.noted == {}
    with pytest.raises(OSError):  # noqa: PT011 - the number depends on what is in the way
        files.read_text(directory, directory / "arrived" / "arrived")
    with pytest.raises(OSError):  # noqa: PT011 - the same
        plain_state.last_program(directory)


@pytest.mark.django_db
def test_a_regular_file_is_read_as_before(deployment: Deployment, directory: Path) -> None:
    (directory / "driver.log").write_text("a line\n")
    lines, _ = read_log(directory / "driver.log", None, Filter())
    assert [line.message for line in lines] == ["a line"]
    (directory / "checkpoint").mkdir()
    (directory / "checkpoint" / "stores.json").write_text('{"stream": "a"}')
    assert state_plan.checkpoint_notes(deployment) == {"stream": "a"}
    with pytest.raises(OSError, match="symbolic links"):
        files.read_text(directory, directory / ".." / "driver.log")


@pytest.mark.django_db
def test_a_link_leads_neither_writing_nor_deletion_elsewhere(
    deployment: Deployment, directory: Path, secret: Path
) -> None:
    """The lock of a comparison, the notes of a plain program, and old state."""
    before = secret.read_text()
    shadow = Shadow(deployment=deployment, of=deployment, start=ShadowStart.values[0], suffix="-x")
    (directory / "comparison.lock").symlink_to(secret)
    with pytest.raises(OSError, match="symbolic links"):
        comparing._lock(shadow)
    (directory / "plain").mkdir()
    (directory / "plain" / f"{plain_state.CURRENT}.new").symlink_to(secret)
    with pytest.raises(OSError, match="symbolic links"):
        plain_state.enter_plain(directory, "program")
    other = directory.parent / "other"
    (other / "old").mkdir(parents=True)
    (directory / "checkpoint").symlink_to(other)
    old_state.delete(deployment, "old")
    assert (other / "old").is_dir()
    assert secret.read_text() == before
