"""A plain program stops on SIGTERM: without an exception, and with its documented exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launcher import java, places

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = places.REPOSITORY / "tests" / "golden" / "filter" / "plain.py"
#: a query without Kafka in place of the topology's
QUERY = (
    "spark.readStream.format('rate').load().writeStream.format('noop')"
    ".option('checkpointLocation', options.checkpoint).start(); print('STARTED', flush=True)"
)


@pytest.mark.parametrize(
    ("whole_group", "moment"),
    [
        pytest.param(False, "STARTED", marks=pytest.mark.long),
        (True, "STARTED"),
        pytest.param(True, "STARTING", marks=pytest.mark.long),
    ],
    ids=["the process", "its group", "its group while Spark starts"],
)
def test_sigterm_ends_a_plain_job_without_an_exception(
    whole_group: bool, moment: str, tmp_path: Path
) -> None:
    text = PROGRAM.read_text("utf-8")
    session = "        spark = SparkSession"
    for each, instead in (
        ("topology(Kafka(spark, options))", QUERY),
        (session, f"        print('STARTING', flush=True)\n{session}"),
    ):
        assert text.count(each) == 1
        text = text.replace(each, instead)
    (tmp_path / "job.py").write_text(text, "utf-8")
    log = tmp_path / "log.txt"
    options = ["--bootstrap-servers", "x", "--checkpoint", str(tmp_path / "checkpoint")]
    with log.open("w") as printed:
        job = subprocess.Popen(
            [sys.executable, str(tmp_path / "job.py"), *options],
            env={**os.environ, **java.environment()},
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 180
        while moment not in log.read_text("utf-8"):
            assert job.poll() is None, log.read_text("utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.2)
        if whole_group:
            os.killpg(job.pid, signal.SIGTERM)
        else:
            job.terminate()
        assert job.wait(timeout=60) == 0
        assert "Traceback" not in log.read_text("utf-8")
    finally:
        if job.poll() is None:
            job.kill()
