"""Diagnostics of nodes in fragments that are functions name the line in the function."""

from __future__ import annotations

import pytest

from cli.documents import show_diagnostics
from cli.programs import programs


def test_the_line_is_that_of_the_inner_node(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = {"clean": "job.py, line 12", "clean--large": "job.py, line 6"}
    # Other tests have read programs, too.
    monkeypatch.setattr(programs, "places", {"job.py": lines})
    for inner in ({"inner": "clean--large"}, {"inner": "clean--gone"}, {}):
        show_diagnostics(
            [{"code": "a", "severity": "error", "message": "Wrong.", "node": "clean", **inner}]  # type: ignore[typeddict-item]
        )
    shown = [each.split(":")[0] for each in capsys.readouterr().err.splitlines()]
    assert shown == ["job.py, line 6", "job.py, line 12", "job.py, line 12"]
