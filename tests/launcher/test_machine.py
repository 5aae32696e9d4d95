"""The machine checks of `up`: ports, Java, disks, folders; every refusal is a sentence."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from millrace_runtime.session import java_home
from millrace_services import local_services

from launcher import java, node, places, ports, up
from launcher.console import Problem

Port = Callable[[], int]


@pytest.fixture
def listening(free_port: Port) -> socket.socket:
    server = socket.socket()
    server.bind(("127.0.0.1", free_port()))
    server.listen()
    return server


def test_a_taken_page_port_is_reported_with_its_owner_and_the_option(
    listening: socket.socket,
) -> None:
    port = listening.getsockname()[1]
    with listening, pytest.raises(Problem, match=rf"Port {port}.*is in use by.*--port {port + 1}"):
        ports.demand(port, "the page")


def test_an_inner_port_that_is_taken_gives_way_and_the_choice_is_kept(
    tmp_path: Path, listening: socket.socket
) -> None:
    notes = tmp_path / "ports.json"
    taken = listening.getsockname()[1]
    with listening:
        chosen = ports.choose(notes, {"redis": taken})
        assert chosen["redis"] != taken
    assert ports.choose(notes, {"redis": taken}) == chosen
    assert json.loads(notes.read_text(encoding="utf-8")) == chosen


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="claims are Linux's")
def test_two_launchers_that_start_at_once_choose_different_ports(
    tmp_path: Path, free_port: Port
) -> None:
    """Neither launcher has a listening server yet."""
    wanted = {"analyzer": free_port()}
    code = (
        "import json, pathlib, sys; from launcher import ports; "
        "print(json.dumps(ports.choose(pathlib.Path(sys.argv[1]), json.loads(sys.argv[2]))), "
        "flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "one"), json.dumps(wanted)],
        cwd=places.REPOSITORY,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places.PYTHON_PATH)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert json.loads(other.stdout.readline()) == wanted
        assert ports.choose(tmp_path / "two", wanted) != wanted
        other.communicate("")
    assert ports.choose(tmp_path / "three", wanted) == wanted


def test_an_old_java_is_named_and_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java(tmp_path / "java11", '11.0.2"')
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(java, "_bundled", lambda: None)
    with pytest.raises(Problem, match=rf"No Java 17 to 25.*{old} is Java 11.*JAVA_HOME"):
        java.home()


def printed_by(home: Path, *arguments: str) -> str:
    command = [str(home / "bin" / "java"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


SPARKS = (
    "--add-modules=jdk.incubator.vector",
    "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
)


def test_without_a_java_of_the_machine_the_locked_one_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = fake_java(tmp_path / "bundled", '21.0.8"', '#!/bin/sh\necho "$@"\n')
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("MILLRACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(java, "_candidates", list)
    monkeypatch.setattr(java, "_bundled", lambda: bundled)
    home = java.home()
    assert java_home.major(home) == 21
    assert printed_by(home, *SPARKS, "-Xmx1g", "a b") == f"{SPARKS[1]} -Xmx1g a b\n"


def test_a_java_25_gets_the_options_that_keep_it_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = fake_java(tmp_path / "java25", '25.0.2"', '#!/bin/sh\necho "$@"\n')
    monkeypatch.setenv("JAVA_HOME", str(newest))
    monkeypatch.setenv("MILLRACE_CACHE", str(tmp_path / "cache"))
    home = java.home()
    assert java_home.major(home) == 25
    assert printed_by(home, *SPARKS, "-Xmx1g") == f"{' '.join(java_home.ALLOWED)} -Xmx1g\n"
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java_home.shim(home, tmp_path / "cache") == home


def test_without_a_node_of_the_machine_the_one_of_the_lock_builds_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    path = node.environment()["PATH"]
    found = shutil.which("npm", path=path)
    assert found is not None
    assert Path(found).is_relative_to(places.VENV)
    done = subprocess.run([found, "--version"], env={"PATH": path}, capture_output=True, check=True)
    assert done.stdout


def fake_java(folder: Path, version: str, script: str = "#!/bin/sh\n") -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text(script)
    (folder / "bin" / "java").chmod(0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{version}\nMODULES="java.base java.sql"\n')
    return folder


def test_a_full_disk_is_reported_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(up, "SPACE", shutil.disk_usage(tmp_path).total * 2)
    with pytest.raises(Problem, match=r"MB left.*MILLRACE_DATA"):
        up.make_folders()


def test_a_time_until_services_sleep_that_is_no_number_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MILLRACE_IDLE_SECONDS", "10 minutes")
    with pytest.raises(Problem, match=r"MILLRACE_IDLE_SECONDS is '10 minutes', not a number"):
        up.main(["up"])
    monkeypatch.setenv("MILLRACE_IDLE_SECONDS", "0")
    assert local_services.idle_seconds() is None


def test_a_data_folder_that_cannot_be_made_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MILLRACE_DATA", str(tmp_path / "file" / "data"))
    with pytest.raises(Problem, match=r"cannot be written.*MILLRACE_DATA"):
        up.make_folders()


def test_a_second_start_on_the_same_data_is_refused_and_names_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_DATA", str(tmp_path))
    up.make_folders()
    with (
        up.only_one(),
        pytest.raises(Problem, match=rf"already running.*process {os.getpid()}.*millrace down"),
        up.only_one(),
    ):
        raise AssertionError("two at once")
    with up.only_one():
        pass


def test_an_unknown_command_is_answered_with_the_known_ones() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "launcher.main", "dance"],
        cwd=places.REPOSITORY,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places.PYTHON_PATH)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "unknown command 'dance'" in done.stderr
    assert "compile" in done.stderr


def test_the_launcher_helps_with_nothing_prepared(tmp_path: Path) -> None:
    (tmp_path / "launcher").mkdir()
    for name in ("millrace", "launcher/__init__.py", "launcher/commands.py"):
        shutil.copy(places.REPOSITORY / name, tmp_path / name)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "millrace"), "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "up [--port N]" in done.stdout
