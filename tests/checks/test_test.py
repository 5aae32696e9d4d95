"""`./millrace test` leaves nothing running, and the tests have names that fit on a line."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checks.test import Sum, naming
from checks.test import pytest as run_tests
from launcher import places

ENDLESS = """
import time
import pytest

@pytest.fixture
def server(request):
    (request.path.parent / "started").touch()
    yield
    time.sleep(1)
    (request.path.parent / "ended").touch()

def test_that_takes_its_time(server):
    time.sleep(60)
"""


def test_who_ends_a_run_ends_what_the_tests_had_started(tmp_path: Path) -> None:
    """SIGTERM to the command alone: the fixtures take down what they started, then it ends."""
    (tmp_path / "test_endless.py").write_text(ENDLESS, encoding="utf-8")
    code = (
        "import sys; from checks.test import run_pytest; "
        "run = ['-p', 'tests.conftest', '--rootdir', sys.argv[1], sys.argv[1]]; "
        "[[code]] = run_pytest([[run]]); "
        "sys.exit(code)"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=places.REPOSITORY,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places.PYTHON_PATH)},
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "started").exists():
        assert time.monotonic() < deadline, "the test did not begin"
        assert run.poll() is None, run.communicate()[1]
        time.sleep(0.05)
    run.send_signal(signal.SIGTERM)
    run.communicate(timeout=60)
    assert run.returncode != 0
    assert (tmp_path / "ended").exists()


UNSTEADY = """
from pathlib import Path
import random

def test_steady():
    pass

def test_unsteady():
    seen = Path(__file__).parent / "seen"
    drawn = str(random.random())
    before = seen.read_text() if seen.exists() else ""
    seen.write_text(drawn)
    assert before == drawn
"""


@pytest.mark.parametrize("failing", [0, 1])
def test_a_single_failed_test_is_repeated_and_named(tmp_path: Path, failing: int) -> None:
    always = "".join(f"\ndef test_wrong_{n}():\n    assert False\n" for n in range(failing))
    (tmp_path / "test_one.py").write_text(UNSTEADY + always, encoding="utf-8")
    found = run(tmp_path, "-n", "2", "--dist", "loadfile")
    if failing == 0:
        assert (found.passed, found.failed) == (2, 0)
        assert [name.rpartition("::")[2] for name in found.unsteady] == ["test_unsteady"]
    else:
        assert (found.passed, found.failed, found.unsteady) == (1, 2, [])
    assert len(found.failures) == found.failed


def test_a_run_that_ends_without_a_failed_test_has_failed(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("import os\nos._exit(3)\n", encoding="utf-8")
    assert run(tmp_path).failed == 1


def run(folder: Path, *options: str) -> Sum:
    return run_tests("a part", [([f"--rootdir={folder}", *options], [str(folder)])])


def test_names_of_tests_have_at_most_seventy_characters() -> None:
    definition = re.compile(r"^ *(?:async )?def (test_\w{66,})\(", re.MULTILINE)
    long = {
        name: str(path)
        for path in (places.REPOSITORY / "tests").rglob("test_*.py")
        for name in definition.findall(path.read_text(encoding="utf-8"))
    }
    assert long == {}


def test_marks_that_choose_files_stand_in_the_files_of_tests() -> None:
    """`./millrace test` reads which files have a test with one of them."""
    named = {
        str(path.relative_to(places.REPOSITORY))
        for path in (places.REPOSITORY / "tests").rglob("*.py")
        if not path.name.startswith("test_")
        and re.search(r"mark\.(alone|browser)\b", path.read_text(encoding="utf-8"))
    }
    assert named == {"tests/e2e/system.py"}
    chosen = {Path(each).name for each in naming("browser")}
    assert {"test_page_journey.py", "test_docs.py"} <= chosen
    assert "test_storage.py" not in chosen
