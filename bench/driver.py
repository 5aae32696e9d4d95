"""The time that tests with `TopologyTestDriver` take: until the first record, and for each one.

    ./millrace bench driver

Runs pytest, as its users do, on a file with a word count, a windowed count, a join behind a
repartition and a processor. Prints the seconds from the start of Python until the first record is
processed, and the milliseconds of the later records. All share one session: only the first program
waits for it. A run before, which is not measured, writes what later runs use: Python's bytecode and
the archive of the JVM's classes.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from millrace_runtime.session import class_archive

FIRST_LIMIT, NEXT_LIMIT_MS = 3.0, 20.0
RUNS = 3
ARCHIVE_SECONDS = 60.0
ROOT = Path(__file__).resolve().parents[1]
PIPED = {
    "word count": ("word_count", "lines", "to be"),
    "windowed count": ("per_minute", "clicks", "x"),
    "join behind a repartition": ("priced", "orders", {"item": "pen", "n": 2}),
    "processor": ("reminders", "tickets", "x"),
}
_FILE = """
import json, time
import pytest
from tests.testing import programs

@pytest.mark.parametrize(("name", "program", "topic", "value"), {piped!r})
def test_records(topology_test_driver, name, program, topic, value):
    driver = topology_test_driver(getattr(programs, program)())
    piped = driver.input_topic(topic)
    piped.pipe("a", value, 0)
    first, times = time.monotonic() - {began}, []
    for n in range(500):
        at = time.monotonic()
        piped.pipe("a", value, n)
        times.append(time.monotonic() - at)
    with open({found!r}, "a") as out:
        print(json.dumps([name, first, times]), file=out)
"""


def main() -> int:
    """Print a table. Return 1 if a limit is exceeded."""
    _run()
    _wait_for_archive()
    runs = [_run() for _ in range(RUNS)]
    over = False
    print(f"{'':28}{'first':>9}{'median':>10}{'99 %':>10}")
    for number, name in enumerate(PIPED):
        first = statistics.median(run[number][1] for run in runs)
        ms = sorted(each * 1000 for run in runs for each in run[number][2])
        slow = ms[int(len(ms) * 0.99)]
        over |= (number == 0 and first > FIRST_LIMIT) or slow > NEXT_LIMIT_MS
        print(f"{name:28}{first:7.2f} s{statistics.median(ms):7.2f} ms{slow:7.2f} ms")
    firsts = ", ".join(f"{run[0][1]:.2f}" for run in runs)
    print(f"first record of each of the {RUNS} runs: {firsts} s")
    print(f"limits: first record of a run {FIRST_LIMIT} s, next records {NEXT_LIMIT_MS} ms")
    print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 1 if over else 0


def _wait_for_archive() -> None:
    """Wait until the JVM of the first run, if it has to, has written the archive."""
    end = time.monotonic() + ARCHIVE_SECONDS
    while not class_archive.of_tests().ready() and time.monotonic() < end:
        time.sleep(0.2)


def _run() -> list[tuple[str, float, list[float]]]:
    with tempfile.TemporaryDirectory() as folder:
        found, file = Path(folder) / "found.jsonl", Path(folder) / "test_records.py"
        piped = [(name, *each) for name, each in PIPED.items()]
        file.write_text(
            _FILE.format(piped=piped, found=str(found), began=time.monotonic()), encoding="utf-8"
        )
        path = os.pathsep.join(str(ROOT / each) for each in ("", "runtime", "compiler"))
        plugins = ["-p", "millrace_runtime.testing.plugin", "-p", "no:randomly", "-p", "no:asyncio"]
        # The JVM has the archive of classes of tests, as outside of `./millrace`.
        environment = {**os.environ, "PYTHONPATH": path}
        for name in ("SPARK_SUBMIT_OPTS", "PYTHONDONTWRITEBYTECODE"):
            environment.pop(name, None)
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *plugins, "--rootdir", folder,
             "-c", os.devnull, "-p", "no:cacheprovider", str(file)],
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )  # fmt: skip
        return [json.loads(line) for line in found.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main())
