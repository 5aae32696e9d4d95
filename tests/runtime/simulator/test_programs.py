"""Programs are read within milliseconds, by processes that end with them, and as confined ones."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from millrace_runtime.services import confinement
from millrace_runtime.simulator import programs
from millrace_runtime.simulator.simulator import (
    PROGRAM_LIMITS,
    PROGRAMS,
    Simulators,
    respond,
)
from millrace_services.processes import Limits, Process

from tests.runtime.conftest import SECRETS

PROGRAM = """from millrace_runtime import Topology, string
topology = Topology("copy")
topology.stream("in", key=string(), value=string()).to("out")
"""
Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def readers() -> Iterator[Simulators]:
    """A pool of one process that reads programs, started by a process that has secrets."""
    with pytest.MonkeyPatch.context() as environment:
        for name in SECRETS:
            environment.setenv(name, "s3cret")
        found = Simulators(1, Limits(seconds=60, waiting_seconds=60), PROGRAMS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def ask(readers: Simulators) -> Ask:
    """Return the response to a program that has more lines than a good one."""
    simulators = Simulators(1)

    def read(more: str = "", run: str | None = None) -> Any:
        request = {"do": "read_program", "owner": "me", "run": run, "name": "job.py"}
        return respond(simulators, cast(Any, {**request, "program": PROGRAM + more}), readers)

    return read


def test_a_process_reads_one_program_after_another_and_keeps_nothing(
    ask: Ask, readers: Simulators
) -> None:
    assert ask()["document"]["name"] == "copy"
    pids = readers.pids
    assert len(pids) == 1
    ask("import os, string\nstring.kept = os.environ['KEPT'] = open('kept', 'w').write('kept')")
    seen = "import os, string\nraise Exception([*dir(string), *os.environ, *os.listdir()])"
    message = ask(seen)["error"]["message"]
    assert message.startswith("job.py, line 5: Exception: ")
    assert "ascii_letters" in message
    assert "PATH" in message
    assert not [name for name in ("kept", "KEPT", *SECRETS) if name in message]
    assert readers.pids == pids


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        ("boom", "program_failed", "job.py, line 4: NameError"),
        ("if", "program_failed", "job.py, line 4: SyntaxError"),
        ("import os\nos._exit(0)", "program_ended", "ended before the program did"),
        ("import os\nos.kill(os.getpid(), 9)", "program_ended", "ended before"),
        ("mine = b'x' * (3 << 30)", "program_failed", "job.py, line 4: MemoryError"),
        ("topology.stream('x' * (33 << 20), key=string(), value=string()).to('b')",
         "program_too_large", "larger than 32 MB"),
        ("topology = None", "program_topology", "no topology"),
    ],
)  # fmt: skip
def test_a_program_that_fails_is_reported_and_the_next_one_is_read(
    ask: Ask, more: str, code: str, message: str
) -> None:
    error = ask(more)["error"]
    assert (error["code"], message in error["message"]) == (code, True), error
    assert ask("print('x' * 10_000_000)")["document"]["name"] == "copy"


def test_a_reading_that_does_not_end_is_replaced_by_the_next_one(
    ask: Ask, readers: Simulators
) -> None:
    ask()
    [pid] = readers.pids
    answers: list[Any] = []
    endless = "import os, time\nif os.fork() == 0: os.setsid()\nwhile True: time.sleep(0.01)"
    thread = threading.Thread(target=lambda: answers.append(ask(endless, run="typing")))
    thread.start()
    while thread.is_alive() and len(sessions(pid)) < 2:
        time.sleep(0.01)
    assert ask(run="typing")["document"]["name"] == "copy"
    thread.join(60)
    assert answers[0]["error"]["code"] == "simulation_cancelled"
    assert readers.pids == [pid]
    assert sessions(pid) <= {pid}


def sessions(pid: int) -> set[int]:
    """Return the sessions of the processes below one."""
    found, parents = set(), {pid}
    for path in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda each: int(each.parent.name)):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(") ")[2].split()
            if int(fields[1]) in parents:
                parents.add(int(path.parent.name))
                found.add(int(fields[3]))
    return found


def test_a_program_that_takes_too_long_is_stopped() -> None:
    start = "from millrace_runtime.simulator import programs; programs.main(0.2)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = Process([sys.executable, "-c", start], environment, leads=True)
    try:
        request = {"do": "read_program", "name": "job.py", "program": PROGRAM + "while True: pass"}
        for _ in range(2):
            answer = process.ask(request, Limits(seconds=60))
            assert answer["error"]["code"] == "program_too_long"
    finally:
        process.end()
    assert PROGRAM_LIMITS.seconds > programs.SECONDS


@pytest.mark.skipif(not confinement.version(), reason="this system has no Landlock")
def test_a_program_can_neither_read_nor_write_other_files(ask: Ask, tmp_path: Path) -> None:
    secret = tmp_path / "secret.key"
    secret.write_text("key")
    for action in (f"open({str(secret)!r})", f"open({str(tmp_path / 'new')!r}, 'w')"):
        assert "PermissionError" in ask(action)["error"]["message"]
    if confinement.version() >= 6:
        killed = ask("import os\nos.kill(os.getppid(), 9)")
        assert "PermissionError" in killed["error"]["message"]
