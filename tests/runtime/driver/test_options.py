"""Invalid options of a job are reported before Spark starts, with an exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from millrace_runtime.driver.main import parser
from millrace_runtime.driver.options import SLEEP, checked
from millrace_runtime.errors import MillraceError
from millrace_runtime.job.explaining import explain

RUNTIME = Path(__file__).parents[3] / "runtime"
BROKER = ["--bootstrap-servers", "127.0.0.1:9092"]


def refusal(*words: str, checkpoint: Path) -> MillraceError:
    with pytest.raises(MillraceError) as caught:
        checked(parser("x").parse_args([*BROKER, "--checkpoint", str(checkpoint), *words]))
    return caught.value


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--bootstrap-servers", "nonsense"], "is 'nonsense', but must be HOST:PORT"),
        (["--bootstrap-servers", "a:1,b"], "is 'b', but must be HOST:PORT"),
        (["--bootstrap-servers", "a:99999"], "is 'a:99999'"),
        (["--spark-config", "memory"], "is 'memory', but must be KEY=VALUE"),
        (["--trigger", "5 bananas"], "--trigger is '5 bananas', but must be an interval"),
        (["--max-records", "0"], "--max-records is '0', but must be 1 or more"),
        (["--master", "nonsense"], "--master is 'nonsense', but must be local[N]"),
        (["--kafka-config", "/no/such.file"], "/no/such.file cannot be read: No such file"),
        (["--kafka-config", "/"], "/ cannot be read: Is a directory."),
    ],
)
def test_an_option_that_cannot_be_is_reported_with_what_would_do(
    words: list[str], says: str, tmp_path: Path
) -> None:
    error = refusal(*words, checkpoint=tmp_path)
    assert error.code == "option_invalid"
    assert says in error.message


@pytest.mark.parametrize(
    "words",
    [
        ["--bootstrap-servers", "a:1, b.c-d:9092,[::1]:9093,SSL://e:9094"],
        ["--master", "local[2]"],
        ["--master", "spark://host:7077", "--trigger", "250 milliseconds"],
        ["--spark-config", "spark.x=a=b"],
    ],
)
def test_options_of_all_kinds_are_taken(words: list[str], tmp_path: Path) -> None:
    checked(parser("x").parse_args([*BROKER, "--checkpoint", str(tmp_path / "new" / "c"), *words]))
    assert (tmp_path / "new" / "c").is_dir()
    assert list((tmp_path / "new" / "c").iterdir()) == []


@pytest.mark.parametrize("text", ["soon", "-1", "inf", "nan"])
def test_seconds_until_a_job_sleeps_that_are_no_number_are_reported(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SLEEP, text)
    assert f"{SLEEP} is {text!r}" in str(refusal(checkpoint=tmp_path))


def test_a_file_in_the_place_of_the_checkpoint_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for place in (file, file / "below"):
        error = refusal(checkpoint=place)
        assert error.code == "checkpoint_unwritable"
        assert f"The checkpoint folder {place} is not writable: " in error.message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_rights_is_reported(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        error = refusal(checkpoint=tmp_path / "new")
    finally:
        tmp_path.chmod(0o700)
    assert "Permission denied" in error.message


def test_a_place_where_nothing_can_be_made_is_reported() -> None:
    assert refusal(checkpoint=Path("/proc/nowhere/new")).code == "checkpoint_unwritable"


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (["--trigger", "soon"], "option_invalid", 2),
        (["--bootstrap-servers", ""], "option_missing", 2),
        (["--checkpoint", "/proc/nowhere/new"], "checkpoint_unwritable", 1),
    ],
)
def test_the_command_ends_with_one_line_of_json_and_its_exit_code(
    words: list[str], code: str, exit_code: int, tmp_path: Path
) -> None:
    script = "import sys; from millrace_runtime import Topology; Topology('x').main(sys.argv[1:])"
    argv = [*BROKER, "--checkpoint", str(tmp_path), *words]
    done = subprocess.run(
        [sys.executable, "-c", script, *argv],
        env={"PYTHONPATH": f"{RUNTIME}:{RUNTIME.parent / 'compiler'}", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == exit_code
    [line] = done.stderr.splitlines()
    assert json.loads(line)["error"]["code"] == code
    assert done.stdout == ""


def test_what_kafkas_client_refuses_is_reported_in_its_words() -> None:
    error = explain(
        RuntimeError(
            "x\norg.apache.kafka.common.config.ConfigException: Invalid value plain for "
            "configuration security.protocol: must be upper case."
        )
    )
    assert error.code == "kafka_client"
    assert error.message.endswith("security.protocol: must be upper case.")
    assert explain(RuntimeError("[JAVA_GATEWAY_EXITED] gone")).code == "spark_not_started"
    assert explain(RuntimeError("[PACKAGE_NOT_INSTALLED] Pandas")).code == "python_packages"
