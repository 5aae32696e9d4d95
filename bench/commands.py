"""The time that commands on a program take once their resident process runs.

    ./millrace bench commands [-- --calls N]

Prints the median wall-clock and processor time of `N` calls (7) for each command, on a program and
on its document, and that of the first call, which starts the resident process. Processor time is
that of the command, of the resident process and of its JVMs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from bench._table import Row, processor_seconds, show
from launcher import residents

LIMIT = 1.0
ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
from millrace_runtime import Topology, key_value_store, long, string

topology = Topology("word-count")
lines = topology.stream("lines", key=string(), value=string())
words = lines.flat_map_values("split(value, ' ')", name="words").group_by("value")
words.count(store=key_value_store("counts")).to_stream().to("counts", value=long())
"""
INPUTS = [
    {"topic": "lines", "key": None, "value": "to be", "timestamp": 1},
    {"topic": "lines", "key": None, "value": "or not to be", "timestamp": 2},
]
COUNTS = [("to", 1), ("be", 1), ("or", 1), ("not", 1), ("to", 2), ("be", 2)]
COMMANDS = (
    ("describe", "DOC"),
    ("simulate", "DOC", "--inputs", "in.jsonl"),
    ("compile", "DOC", "-o", "out"),
    ("test-topology", "DOC"),
    ("compare-state", "DOC", "other.py"),
    ("verify", "DOC", "--inputs", "in.jsonl"),
)


def main() -> int:
    """Print a table. Return 1 if a call takes longer than a second."""
    parser = argparse.ArgumentParser(prog="./millrace bench commands --")
    parser.add_argument("--calls", type=int, default=7, metavar="N", help="calls of each command")
    calls = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as runtime:
        os.environ |= {"XDG_RUNTIME_DIR": runtime, "MILLRACE_RESIDENT": "1", "CI": ""}
        for name in ("SPARK_SUBMIT_OPTS", "PYTHONDONTWRITEBYTECODE"):
            os.environ.pop(name, None)  # of this process, not of the commands
        _write(Path(folder))
        try:
            wall, processor = _call(Path(folder), COMMANDS[1], "job.py")
            rows = [Row("first call: simulate job.py", wall, processor)]
            for command in COMMANDS:
                for document in ("job.py", "job.json"):
                    _call(Path(folder), command, document)  # loads what it needs
                    found = [_call(Path(folder), command, document) for _ in range(calls)]
                    middle = [statistics.median(each) for each in zip(*found, strict=True)]
                    rows.append(Row(f"{command[0]} {document}", middle[0], middle[1], LIMIT))
        finally:
            residents.stop(residents.living())
    show(rows)
    return 1 if any(row.limit is not None and row.wall > row.limit for row in rows) else 0


def _write(folder: Path) -> None:
    (folder / "job.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "other.py").write_text(PROGRAM.replace('"counts")', '"totals")', 1), encoding="utf-8")
    (folder / "in.jsonl").write_text("\n".join(map(json.dumps, INPUTS)), encoding="utf-8")
    (folder / "tests").mkdir()
    expected = [{"topic": "counts", "key": key, "value": count} for key, count in COUNTS]
    test = {"inputs": INPUTS, "expected": {"outputs": expected}}
    (folder / "tests" / "words.json").write_text(json.dumps(test), encoding="utf-8")
    _call(folder, ("document", "DOC", "-o", "job.json"), "job.py")


def _call(folder: Path, command: tuple[str, ...], document: str) -> tuple[float, float]:
    """Return the seconds of a call, and those of processors."""
    words = [each.replace("DOC", document) for each in command]
    before, began = _processor(), time.monotonic()
    done = subprocess.run(
        [str(ROOT / "millrace"), *words], cwd=folder, capture_output=True, text=True, check=False
    )
    took = time.monotonic() - began
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return took, _processor() - before


def _processor() -> float:
    """Return the processor seconds of ended calls, and of the resident process with its JVMs."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = [psutil.Process(each.pid) for each in residents.living()]
    return ended.ru_utime + ended.ru_stime + processor_seconds(*found)


if __name__ == "__main__":
    sys.exit(main())
