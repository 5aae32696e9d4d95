"""Archives of loaded classes: used if intact, ignored otherwise, named after Java and jars."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from millrace_runtime.session import class_archive, java_home

from launcher import archive


@pytest.fixture
def jar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "java"
    (home / "lib" / "server").mkdir(parents=True)
    (home / "lib" / "server" / "classes.jsa").write_text("")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("MILLRACE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "one.jar"
    path.write_text("one")
    return path


def written_to(options: list[str]) -> Path:
    (option,) = (each for each in options if each.startswith("-XX:ArchiveClassesAtExit="))
    return Path(option.partition("=")[2])


def test_the_first_run_writes_and_the_next_one_uses_what_is_whole(jar: Path) -> None:
    first = archive.Archive("thing", [jar])
    assert first.use() == []
    written_to(first.use_or_make()).write_bytes(b"\xf0\x0bwhole")
    second = archive.Archive("thing", [jar])
    assert second.use_or_make()[0] == f"-XX:SharedArchiveFile={second.path}"


def test_what_a_kill_left_half_written_is_thrown_away(jar: Path) -> None:
    half = written_to(archive.Archive("thing", [jar]).use_or_make())
    half.write_bytes(b"\0\0\0\0half")
    assert archive.Archive("thing", [jar]).use() == []
    assert half.exists()  # a Java may still write it
    os.utime(half, (0, 0))
    assert archive.Archive("thing", [jar]).use() == []
    assert not half.exists()


def test_another_jar_is_another_archive(jar: Path) -> None:
    before = archive.Archive("thing", [jar]).path
    jar.write_text("another one")
    assert archive.Archive("thing", [jar]).path != before


def test_few_archives_of_other_jars_stay_also_those_that_nobody_used(jar: Path) -> None:
    for number in range(8):
        jar.write_text("x" * number)
        written_to(archive.Archive("thing", [jar]).use_or_make()).write_bytes(b"\xf0whole")
    jar.write_text("x" * 9)
    archive.Archive("thing", [jar]).use_or_make()
    assert len(list((jar.parent / "cache").iterdir())) == class_archive.KEPT


def test_a_java_without_an_archive_of_its_own_classes_is_left_alone(
    jar: Path, tmp_path: Path
) -> None:
    (tmp_path / "java" / "lib" / "server" / "classes.jsa").unlink()
    assert archive.Archive("thing", [jar]).use_or_make() == []


def test_options_of_the_user_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dmine=1")
    assert archive.with_options(["-Xlog"]) == {"SPARK_SUBMIT_OPTS": "-Dmine=1 -Xlog"}
    assert archive.with_options([]) == {}


def test_the_archive_of_drivers_fits_the_connector_on_their_class_path(
    jar: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "connector"
    folder.mkdir()
    monkeypatch.setenv("MILLRACE_JARS", str(folder))
    before = archive.spark().path
    (folder / "kafka-clients.jar").write_text("clients")
    assert archive.spark().path != before


def test_a_shim_of_a_java_has_the_archives_of_that_java(
    jar: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = tmp_path / "java"
    (real / "release").write_text('JAVA_VERSION="25.0.1"\n')
    (real / "bin").mkdir()
    (real / "bin" / "java").write_text("")
    home = java_home.shim(real, tmp_path / "cache")
    assert home != real
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert archive.Archive("thing", [jar]).use_or_make() != []
