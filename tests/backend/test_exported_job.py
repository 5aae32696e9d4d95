"""An exported zip on a machine without Millrace: the commands of its README, run unchanged."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from millrace_runtime.jars import operator_jar
from topologies import actions, testing

from launcher import java
from tests.compiler.kit import OneTypeAnalyzer, document, node, sink, stream
from tests.conftest import Broker
from tests.packages import wheel_of
from tests.runtime import topics
from tests.served import serving_analyzer

from .conftest import Client, People

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

#: what requirements.txt requires, installed from wheels of the packages installed here
PACKAGES = (
    *("pyspark", "py4j", "google-re2"),
    *("pytest", "iniconfig", "packaging", "pluggy", "pygments"),
)
KEPT = (
    *("HOME", "LANG", "TMPDIR", "SPARK_SUBMIT_OPTS"),
    *("MILLRACE_CACHE", "MILLRACE_JARS", "MILLRACE_JAR_MIRROR"),
)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    for name in PACKAGES:
        wheel_of(name, folder)
    return folder


def blocks_of(readme: str, places: dict[str, str]) -> list[str]:
    """Return the README's command blocks, with real paths for its placeholders."""
    for left_open, place in places.items():
        assert left_open in readme
        readme = readme.replace(left_open, place)
    return re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)


@pytest.fixture
def shell(tmp_path: Path, wheels: Path) -> Any:
    """A function that runs a block of commands in the unpacked folder and stops at an error."""
    python = tmp_path / "bin"
    python.mkdir()
    # `python` is the machine's own, without the packages that are installed for Millrace.
    (python / "python").symlink_to(getattr(sys, "_base_executable", sys.executable))
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= java.environment()
    environment |= {
        "PATH": os.pathsep.join([str(python), environment.get("PATH", ""), "/usr/bin", "/bin"]),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_NO_COMPILE": "1",
    }

    def run(commands: str, folder: Path) -> str:
        done = subprocess.run(
            ["bash", "-euc", commands],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        printed = done.stdout + done.stderr
        assert done.returncode == 0, printed[-4000:]
        return printed

    return run


def unpacked(client: Any, topology: int, folder: Path, dialect: str = "exact") -> Path:
    """Unpack the exported zip and return its folder."""
    answer = client.get(f"/api/topologies/{topology}/versions/1/export", {"dialect": dialect})
    assert answer.status_code == 200, answer.content
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(folder)
    [made] = [each for each in folder.iterdir() if (each / "README.md").is_file()]
    return made


@pytest.mark.long
def test_what_the_readme_shows_runs_as_it_is_written(
    people: People,
    client_of: Client,
    broker: Broker,
    shell: Any,
    settings: Any,
    tmp_path: Path,
) -> None:
    topics.create(broker.address, {"exported-in": 1, "exported-out": 1})
    topics.produce(broker.address, "exported-in", [{"key": "k", "value": "first"}])
    raw = document(
        [
            stream("in", topics=["exported-in"]),
            node("last", "to_table"),
            node("rows", "to_stream"),
            sink("out", topic="exported-out"),
        ],
        ["in > last", "last > rows", "rows > out"],
    )
    settings.MILLRACE_OPERATOR_JAR = operator_jar()
    with serving_analyzer(OneTypeAnalyzer()) as analyzer:
        settings.MILLRACE_ANALYZER = analyzer
        made = actions.create_topology(people.editor, people.workspace, "Exported", raw)
        client = client_of(people.editor)
        line = {"topic": "exported-in", "key": "k", "value": "a", "timestamp": 1}
        output = {"topic": "exported-out", "key": "k", "value": "a", "timestamp": 1, "after": 1}
        for name, value in (("It passes", "a"), ("It fails", "b")):
            condition = {"topic": "exported-out", "predicate": f"value = '{value}'"}
            expected: Any = {"outputs": [{**output, "value": value}], "conditions": [condition]}
            testing.keep_test(people.editor, made, name, [line], expected)
        folder = unpacked(client, made.pk, tmp_path / "unpacked")
        readme = (folder / "README.md").read_text("utf-8")
        alone, submitted, *_kubernetes, tests = blocks_of(
            readme,
            {
                "localhost:9092": broker.address,
                "HOST:9092": broker.address,
                "s3a://BUCKET/CHECKPOINT": str(tmp_path / "checkpoint"),
                "spark://HOST:7077": "local[2]",
            },
        )
        # A job runs until it is stopped; with this option it ends when all records are read.
        printed = shell(f"{alone.rstrip()} --available-now", folder)
        assert values(broker, 1) == [b"first"]
        topics.produce(broker.address, "exported-in", [{"key": "k", "value": "second"}])
        more = shell(f"{submitted.rstrip()} --available-now", folder)
        # It has a checkpoint of its own, so it starts at the first record again.
        assert values(broker, 3) == [b"first", b"first", b"second"]
        tested = shell(f"{tests.rstrip()} || test $? = 1", folder)
        assert "FAILED tests/test_topology.py::test_topology[it-fails]" in tested
        assert "exported-out[0]: expected {" in tested
        assert "exported-out[0]: expected value = 'b', got {" in tested
        assert "1 failed, 1 passed" in tested
    for each in (printed, more):
        assert "Starting Spark; a first start also fetches the Kafka connector" in each
        assert "Starting the plan and the query" in each


def values(broker: Broker, count: int) -> list[bytes]:
    return [each.value() for each in topics.consume(broker.address, "exported-out", count)]


@pytest.mark.long
def test_the_tests_of_a_plain_export_run_as_its_readme_shows(
    people: People, client_of: Client, shell: Any, settings: Any, tmp_path: Path
) -> None:
    raw = document(
        [stream(), node("keep", "filter", predicate="true"), sink()], ["in > keep", "keep > out"]
    )
    settings.MILLRACE_OPERATOR_JAR = operator_jar()
    with serving_analyzer(OneTypeAnalyzer("BOOLEAN")) as analyzer:
        settings.MILLRACE_ANALYZER = analyzer
        made = actions.create_topology(people.editor, people.workspace, "Plain", raw)
        line = {"topic": "in", "key": "k", "value": "a", "timestamp": 1}
        output = {"topic": "out", "key": "k", "value": "a", "timestamp": 1, "after": 1}
        for name, value in (("It passes", "a"), ("It fails", "b")):
            expected: Any = {"outputs": [{**output, "value": value}]}
            testing.keep_test(people.editor, made, name, [line], expected)
        folder = unpacked(client_of(people.editor), made.pk, tmp_path / "unpacked", "plain")
    assert not (folder / "millrace_runtime").exists()
    readme = (folder / "README.md").read_text("utf-8")
    run, *_docker, tests = blocks_of(readme, {"localhost:9092": "127.0.0.1:1"})
    tested = shell(f"{run.splitlines()[0]}\n{tests.rstrip()} || test $? = 1", folder)
    assert "FAILED tests/test_topology.py::test_topology[it-fails]" in tested
    assert "1 failed, 1 passed" in tested
    # A change of the program that no difference announces is found.
    program = (folder / "job.py").read_text("utf-8").replace('where("true")', 'where("false")')
    (folder / "job.py").write_text(program, "utf-8")
    tested = shell(".venv/bin/python -m pytest tests || test $? = 1", folder)
    assert "plain Spark: out[0]: expected" in tested
    assert "2 failed" in tested


@pytest.mark.parametrize("dialect", ["exact", "plain"])
def test_the_readme_names_only_files_that_are_there(
    dialect: str, people: People, client_of: Client, settings: Any, tmp_path: Path
) -> None:
    settings.MILLRACE_OPERATOR_JAR = tmp_path / "operator.jar"
    settings.MILLRACE_OPERATOR_JAR.write_bytes(b"PK")
    with serving_analyzer(OneTypeAnalyzer()) as analyzer:
        settings.MILLRACE_ANALYZER = analyzer
        raw = document([stream(), sink()], ["in > out"])
        made = actions.create_topology(people.editor, people.workspace, "Files", raw)
        client = client_of(people.editor)
        folder = unpacked(client, made.pk, tmp_path / "unpacked", dialect)
        readme = (folder / "README.md").read_text("utf-8")
        rows = re.findall(r"^\| (`.*) \|", readme, re.MULTILINE)
        named = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[0])]
        assert len(named) >= 8
        assert "| 0 | stopped by SIGTERM or Ctrl-C" in readme
        for name in named:
            assert (folder / name).exists(), name
        # The topology has no tests.
        assert "pytest" not in readme
        assert not (folder / "tests").exists()
