"""scalafmt in `./millrace check` and `fmt`."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks import scala
from launcher import jars

LINE = "object A { val sum = Seq(" + ", ".join(str(n) for n in range(60)) + ").sum }\n"


def test_the_configuration_and_the_lock_name_the_same_version() -> None:
    (locked,) = (jar for jar in jars.read_lock() if jar.artifact == "scalafmt-cli_2.13")
    assert f"version = {locked.version}\n" in scala.CONFIGURATION.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_long_line_fails_the_check_until_fmt_has_broken_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scala, "FOLDERS", (tmp_path,))
    monkeypatch.setattr(scala, "known", lambda: tmp_path / "known.txt")
    source = tmp_path / "A.scala"
    source.write_text(LINE, encoding="utf-8")
    assert scala.main(["--check"]) != 0
    assert "A.scala" in capfd.readouterr().out
    assert scala.main([]) == 0
    assert max(map(len, source.read_text(encoding="utf-8").splitlines())) <= 120
    assert scala.main(["--check"]) == 0
