"""Jars: named by what they are made of, and a sentence where one cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest
from millrace_runtime import jars
from millrace_runtime.errors import MillraceError

from tools.jars import read_lock


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


def test_scalacs_own_words_come_with_a_broken_source(tmp_path: Path) -> None:
    source = tmp_path / "Broken.scala"
    source.write_text("object Broken { val x: Int = missing }")
    with pytest.raises(MillraceError, match="not found: value missing") as failed:
        jars._compile([source], tmp_path / "out.jar")
    assert failed.value.code == "operator_not_compiled"
    assert not list(tmp_path.glob("*.jar"))


def test_a_folder_without_the_jars_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_JARS", str(tmp_path))
    with pytest.raises(MillraceError, match=r"lacks .*kafka-clients-3\.9\.2\.jar"):
        jars.connector_jars()
