"""The result of a search as text: its records, and everything in one line of Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping

from millrace_model.records import InputLine, OutputLine
from millrace_model.simulations import DifferingInput

_LONGEST = 120


def record_text(line: InputLine | OutputLine) -> str:
    """Return the key, value and time of a record, with its partition and headers if it has any."""
    key, value = (json.dumps(line.get(name), ensure_ascii=False) for name in ("key", "value"))
    more = "".join(
        f"  {name} {json.dumps(line[name], ensure_ascii=False)}"
        for name in ("partition", "headers")
        if line.get(name)
    )
    return f"{key} = {value} at {line.get('timestamp', 0):,} ms{more}"


def input_text(line: InputLine) -> str:
    """Return an input line: a record with its topic, or an advance of the wall clock."""
    if "advance_wall_clock" in line:
        return f"the wall clock advances by {line['advance_wall_clock']:,} ms"
    return f"{line['topic']}  {record_text(line)}"


def in_one_line(
    found: DifferingInput | None, inputs: int, share: int, missed: Mapping[str, list[str]]
) -> str:
    """Return a line of Markdown for a pull request.

    `inputs`: the number of inputs that were tried. `share`: the covered branches in percent.
    `missed`: the nodes that no record reached, by version.
    """
    if found is None:
        line = f"**Same results** on {inputs:,} inputs; {share} % of the branches are covered."
        nodes = list(dict.fromkeys(node for each in missed.values() for node in each))
        return f"{line} No record reached {', '.join(nodes)}." if nodes else line
    count = len(found["inputs"])
    records = "1 record" if count == 1 else f"{count} records"
    ways = [
        f"{_code(topic)}: {_outputs(found, 'old', topic)} → {_outputs(found, 'new', topic)}"
        for topic in found["topics"]
    ]
    stops = [
        f"record {number} stops the {name} version"
        for name, number in (("old", found["old_stopped"]), ("new", found["new_stopped"]))
        if number is not None
    ]
    given = ", ".join(_code(" ".join(input_text(each).split("  "))) for each in found["inputs"])
    return f"**Different results** after {records}: {given}. {'; '.join([*ways, *stops])}."


def _outputs(found: DifferingInput, version: str, topic: str) -> str:
    """Return the last output of a version to a topic that differs, or `nothing`."""
    mine, others = found["old"], found["new"]
    if version == "new":
        mine, others = others, mine
    own = [each for each in mine if each["topic"] == topic]
    other = [each for each in others if each["topic"] == topic]
    apart = [each for each in own if each not in other] or own[-1:]
    return ", ".join(_code(record_text(each)) for each in apart[:2]) or "nothing"


def _code(text: str) -> str:
    short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"`{short.replace('`', chr(39))}`"
