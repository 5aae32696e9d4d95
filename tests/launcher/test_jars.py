"""The lock of the jars: read strictly, verified by sha256, also with a mirror that lies."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from launcher import jars
from launcher.console import Problem

GOOD = b"a jar, as far as anybody here can tell"


def publish(root: Path, content: bytes = GOOD) -> None:
    """Create a Maven repository in a folder, with one jar."""
    folder = root / "org" / "example" / "thing" / "1.0"
    folder.mkdir(parents=True)
    pom = (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>org.example</groupId><artifactId>thing</artifactId><version>1.0</version></project>"
    )
    for name, data in (("thing-1.0.pom", pom.encode()), ("thing-1.0.jar", content)):
        (folder / name).write_bytes(data)
        (folder / f"{name}.sha1").write_text(hashlib.sha1(data).hexdigest())


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock that contains the jar, an empty cache, and an empty mirror."""
    monkeypatch.setenv("MILLRACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MILLRACE_JAR_MIRROR", f"file://{tmp_path}/mirror/")
    monkeypatch.delenv("MILLRACE_JARS", raising=False)
    path = tmp_path / "jars.lock"
    path.write_text(f"[oracle]\norg.example:thing:1.0 {hashlib.sha256(GOOD).hexdigest()}\n")
    return path


def test_the_lock_of_the_repository_names_every_group_and_no_address() -> None:
    groups = {jar.group for jar in jars.read_lock()}
    assert groups == set(jars.ROOTS)
    assert "://" not in jars.LOCK.read_text(encoding="utf-8")


def test_the_runtime_and_the_lock_name_the_same_connector() -> None:
    from millrace_runtime.jars import CONNECTOR

    locked = {jar.file: jar.sha256 for jar in jars.read_lock() if jar.group == "connector"}
    assert {jar.file: jar.sha256 for jar in CONNECTOR} == locked


def test_a_line_that_cannot_be_read_is_shown_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "jars.lock"
    path.write_text("[broker]\norg.example:thing:1.0 12345\n")
    with pytest.raises(Problem, match=r"line 2: found 'org.example:thing:1.0 12345'"):
        jars.read_lock(path)


@pytest.mark.slow
def test_a_broken_jar_is_named_and_fetched_again(
    tmp_path: Path, lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(tmp_path / "mirror")
    (jar,) = jars.ensure("oracle", lock=lock)["oracle"]
    assert jar.read_bytes() == GOOD
    jar.write_bytes(b"half of it")
    jars.ensure("oracle", lock=lock)
    assert jar.read_bytes() == GOOD
    assert f"{jar} is corrupt" in capsys.readouterr().err


@pytest.mark.slow
def test_a_jar_that_is_not_the_locked_one_is_never_kept(tmp_path: Path, lock: Path) -> None:
    publish(tmp_path / "mirror", b"something else entirely")
    with pytest.raises(Problem, match=r"org.example:thing:1.0 has sha256"):
        jars.ensure("oracle", lock=lock)
    assert not list((tmp_path / "cache" / "jars" / "oracle").glob("*.jar"))


@pytest.mark.slow
def test_a_mirror_without_the_jar_gives_a_sentence_with_the_ways_out(lock: Path) -> None:
    with pytest.raises(
        Problem, match=r"could not be downloaded.*MILLRACE_JAR_MIRROR.*MILLRACE_JARS"
    ):
        jars.ensure("oracle", lock=lock)


def test_a_given_folder_that_lacks_a_jar_is_not_filled(
    tmp_path: Path, lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    monkeypatch.setenv("MILLRACE_JARS", str(given))
    with pytest.raises(Problem, match=r"has no valid copy of thing-1.0.jar"):
        jars.ensure("oracle", lock=lock)
    (given / "thing-1.0.jar").write_bytes(GOOD)
    assert jars.ensure("oracle", lock=lock)["oracle"] == [given / "thing-1.0.jar"]
