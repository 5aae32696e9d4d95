"""The time that tests with `TopologyTestDriver` take: until the first record, and for each one.

    ./millrace bench driver

Starts processes that create a driver and pipe records, as a run of tests does. Prints the seconds
until the first record is processed, with the start of Python and Spark, and the milliseconds of a
record of a word count, a windowed count, a join behind a repartition and a processor.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

FIRST_LIMIT, NEXT_LIMIT_MS = 3.0, 20.0
PIPED = {
    "word count": ("word_count", "lines", "'to be'"),
    "windowed count": ("per_minute", "clicks", "'x'"),
    "join behind a repartition": ("priced", "orders", "{'item': 'pen', 'n': 2}"),
    "processor": ("reminders", "tickets", "'x'"),
}
_RUN = """
import time
began = {began}
from millrace_runtime.testing import TopologyTestDriver
from tests.testing import programs
with TopologyTestDriver(getattr(programs, {program!r})()) as driver:
    topic = driver.input_topic({topic!r})
    topic.pipe("a", {value}, 0)
    print(time.monotonic() - began)
    times = []
    for n in range(500):
        at = time.monotonic()
        topic.pipe("a", {value}, n)
        times.append(time.monotonic() - at)
    print(*times)
"""


def main() -> int:
    """Print a table. Return 1 if a limit is exceeded."""
    over = False
    print(f"{'':28}{'first':>9}{'median':>10}{'99 %':>10}")
    for name, (program, topic, value) in PIPED.items():
        code = _RUN.format(program=program, topic=topic, value=value, began=time.monotonic())
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        first, times = done.stdout.splitlines()
        ms = sorted(float(each) * 1000 for each in times.split())
        slow = ms[int(len(ms) * 0.99)]
        over |= float(first) > FIRST_LIMIT or slow > NEXT_LIMIT_MS
        median = statistics.median(ms)
        print(f"{name:28}{float(first):7.2f} s{median:7.2f} ms{slow:7.2f} ms")
    print(f"limits: first record {FIRST_LIMIT} s, next records {NEXT_LIMIT_MS} ms")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
