"""`./millrace wheel`: the runtime as a package for pip."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

from launcher.wheel import build

SCRIPT = """
import millrace_compiler, millrace_runtime
from millrace_runtime import Topology, string
from millrace_runtime.jars import operator_jar

topology = Topology("alone")
topology.stream("in", key=string(), value=string()).to("out")
print(len(topology.document()["nodes"]), operator_jar().read_bytes() == b"jar")
print(millrace_runtime.__file__, millrace_compiler.__file__)
"""


def test_the_wheel_carries_runtime_compiler_and_operator(tmp_path: Path) -> None:
    operator = tmp_path / "operator.jar"
    operator.write_bytes(b"jar")
    wheel = build(tmp_path / "dist", operator)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={"PYTHONPATH": str(_unpacked(wheel, tmp_path / "site"))},
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    first, second = done.stdout.splitlines()
    assert first == "2 True"
    assert all(place.startswith(str(tmp_path)) for place in second.split())


def test_pytest_finds_the_plugin_of_the_wheel(tmp_path: Path) -> None:
    operator = tmp_path / "operator.jar"
    operator.write_bytes(b"jar")
    site = _unpacked(build(tmp_path / "dist", operator), tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--fixtures", "-q", str(tmp_path), "-p", "no:django"],
        env={"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert "topology_test_driver" in done.stdout


def test_the_wheel_has_the_commands_on_programs(tmp_path: Path) -> None:
    operator = tmp_path / "operator.jar"
    operator.write_bytes(b"jar")
    site = _unpacked(build(tmp_path / "dist", operator), tmp_path / "site")
    program = tmp_path / "job.py"
    program.write_text(
        "from millrace_runtime import Topology, string\n"
        "topology = Topology('alone')\n"
        "topology.stream('in', key=string(), value=string()).to('out')\n"
    )
    run = "import sys; from millrace_commands import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", run, "document", str(program)],
        env={"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert json.loads(done.stdout)["name"] == "alone"
    scripts = next(site.glob("*.dist-info/entry_points.txt")).read_text(encoding="utf-8")
    assert "millrace = millrace_commands:main" in scripts
    done = subprocess.run(
        [sys.executable, "-c", run, "deploy", "3", "--document", str(program)],
        env={"PYTHONPATH": str(site)}, capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert "Pass the server's address" in done.stderr


def test_the_record_of_the_wheel_is_that_of_its_files(tmp_path: Path) -> None:
    operator = tmp_path / "operator.jar"
    operator.write_bytes(b"jar")
    with zipfile.ZipFile(build(tmp_path, operator)) as wheel:
        names = set(wheel.namelist())
        [record] = [name for name in names if name.endswith(".dist-info/RECORD")]
        listed = {}
        for row in wheel.read(record).decode().splitlines():
            path, digest, _ = row.rsplit(",", 2)
            listed[path] = digest
        assert set(listed) == names
        for path in names - {record}:
            found = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(path)).digest())
            assert listed[path] == f"sha256={found.rstrip(b'=').decode()}"
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        assert b"Requires-Dist: pyspark==" in wheel.read(metadata)
        [bill] = [json.loads(wheel.read(name)) for name in names if "/sboms/" in name]
        assert {"pyspark", "py4j", "google-re2", "kafka-clients"} <= {
            each["name"] for each in bill["components"]
        }


def _unpacked(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as content:
        content.extractall(folder)
    return folder
