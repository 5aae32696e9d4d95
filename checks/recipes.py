"""The recipes of the documentation: their drawings, and their records as a table."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from millrace_compiler.catalog.drawings import drawing

from launcher import places

FOLDER = places.REPOSITORY / "examples" / "recipes"
_DAY = 86_400_000


def drawings() -> Iterator[tuple[str, str]]:
    """Yield the name of each recipe and the SVG of its topology."""
    for program in sorted(FOLDER.glob("*/job.py")):
        topology = runpy.run_path(str(program))["topology"]
        yield program.parent.name, drawing(topology.document())


def table(records: Path) -> str:
    """Return the input lines of a test and the outputs of each, as a table in Markdown."""
    test = json.loads(records.read_text(encoding="utf-8"))
    lines = ["| time | in | out |", "|---|---|---|"]
    clock = 0
    for number, line in enumerate(test["inputs"], 1):
        outputs = [each for each in test["expected"]["outputs"] if each["after"] == number]
        if "advance_wall_clock" in line:
            clock += line["advance_wall_clock"]
            time, given = clock, "*the wall clock advances*"
        else:
            time, given = line["timestamp"], _record(line)
        lines.append(f"| {_time(time)} | {given} | {'<br>'.join(map(_record, outputs))} |")
    return "\n".join(lines)


def _record(line: dict[str, Any]) -> str:
    value = line.get("value", "(other bytes)")
    parts = [json.dumps(part, ensure_ascii=False) if not isinstance(part, str) else part
             for part in (line["key"], value)]  # fmt: skip
    return f"{line['topic']}: `{' '.join(parts)}`".replace("|", "\\|")


def _time(ms: int) -> str:
    days, rest = divmod(ms, _DAY)
    seconds, fraction = divmod(rest, 1000)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{f'day {days + 1}, ' if days else ''}{text}{f'.{fraction:03}' if fraction else ''}"
