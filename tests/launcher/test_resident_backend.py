"""Commands on deployments run in a resident process that has loaded the backend."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from launcher import places, residents

pytestmark = pytest.mark.slow
Run = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = """
import os, sys
print(os.environ["SHOP"], sys.stdin.readline().strip(), os.path.basename(os.getcwd()))
raise ValueError("closed")
"""


@pytest.fixture
def run(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Run]:
    """Run a command on deployments of an empty data folder."""
    # The path of a socket is limited.
    runtime = str(tmp_path_factory.mktemp("runtime"))
    (tmp_path / "shop.py").write_text(PROGRAM, encoding="utf-8")

    def call(*words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "launcher.main", *words],
            cwd=tmp_path, capture_output=True, text=True, check=False, input="typed",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places.PYTHON_PATH), "CI": "",
                 "XDG_RUNTIME_DIR": runtime, "MILLRACE_RESIDENT": "1",
                 "MILLRACE_DATA": str(tmp_path / "data"), "SHOP": "anna", **settings},
        )  # fmt: skip

    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    yield call
    residents.stop(residents.living())
    assert residents.living() == []


def test_a_cold_call_and_a_resident_one_print_the_same(run: Run) -> None:
    for words in (
        ("deploy", "1", "--plan"),
        ("deploy", "1", "--document", "shop.py"),
        ("deploy", "1", "--document", "missing.py"),
        ("deploy", "one"),
        ("deploy", "--help"),
        ("scale", "1", "--cores", "2"),
    ):
        warm = run(*words)
        [before] = residents.living()
        cold = run(*words, MILLRACE_RESIDENT="0")
        assert (warm.returncode, warm.stdout, warm.stderr) == (
            cold.returncode, cold.stdout, cold.stderr,
        )  # fmt: skip
        assert residents.living() == [before]


def test_a_program_in_place_of_a_deployment_is_told_its_option(run: Run) -> None:
    for more in ({}, {"MILLRACE_SERVER": "http://127.0.0.1:9", "MILLRACE_TOKEN": "mr_any"}):
        done = run("deploy", "shop.py", **more)
        assert done.returncode != 0
        assert "'shop.py' is not the number of a deployment" in done.stderr
        assert "deploy 3 --document job.py" in done.stderr


def test_a_program_runs_with_what_its_caller_has(run: Run, tmp_path: Path) -> None:
    found = run("deploy", "1", "--document=shop.py")
    assert found.returncode == 1
    first, last = found.stderr.splitlines()
    assert first == f"anna typed {tmp_path.name}"
    assert last == "millrace: shop.py, line 4: ValueError: closed"


def test_other_settings_have_another_process_which_replaces_the_first(run: Run) -> None:
    run("deploy", "1")
    [first] = residents.living()
    assert first.of_backend
    run("deploy", "1", REDIS_URL="redis://127.0.0.1:1/0")
    deadline = time.monotonic() + 10
    while len(residents.living()) > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    [second] = residents.living()
    assert second.pid != first.pid
    run("down")
    assert residents.living() == []


def test_a_deploy_that_names_a_server_uses_its_api(run: Run) -> None:
    away = "http://127.0.0.1:9"
    for words, settings in (
        (("deploy", "1", "--server", away), {}),
        (("deploy", "1", f"--server={away}"), {}),
        (("deploy", "1"), {"MILLRACE_SERVER": away}),
    ):
        done = run(*words, MILLRACE_TOKEN="mr_any", **settings)
        assert done.returncode == 2
        assert f"The server {away} does not respond" in done.stderr
    assert residents.living() == []


@pytest.mark.alone
def test_the_next_calls_take_a_fraction_of_the_first(run: Run) -> None:
    times = []
    for _ in range(4):
        began = time.monotonic()
        run("deploy", "1")
        times.append(time.monotonic() - began)
    assert min(times[1:]) < times[0] / 2, times
