"""Diagnostics of nodes in fragments that are functions name the line in the function."""

from __future__ import annotations

import pytest

from cli.documents import show_diagnostics
from cli.programs import programs


def test_the_line_is_that_of_the_inner_node(capsys: pytest.CaptureFixture[str]) -> None:
    programs.places["job.py"] = {"clean": "job.py, line 12", "clean--large": "job.py, line 6"}
    try:
        for inner in ({"inner": "clean--large"}, {"inner": "clean--gone"}, {}):
            show_diagnostics(
                [{"code": "a", "severity": "error", "message": "Wrong.", "node": "clean", **inner}]  # type: ignore[typeddict-item]
            )
    finally:
        programs.forget()
    lines = [each.split(":")[0] for each in capsys.readouterr().err.splitlines()]
    assert lines == ["job.py, line 6", "job.py, line 12", "job.py, line 12"]
