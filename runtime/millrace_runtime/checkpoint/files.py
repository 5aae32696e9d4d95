"""Files of a checkpoint: Spark's offset log, and the notes of a job."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from millrace_runtime.checkpoint.storage import Place, write_whole

#: offsets by topic and partition
Places = dict[str, dict[str, int]]


def places_in(offsets: Place, *, head: int = 2) -> Places:
    """Return the next offsets in a file of Spark's offset log, by topic and partition.

    If two sources read a topic, the lower offset counts. `head`: lines before the first source.
    """
    found: Places = {}
    for line in offsets.read_text(encoding="utf-8").splitlines()[head:]:
        read = json.loads(line) if re.match(r"\s*\{", line) else {}
        for topic, partitions in read.items():
            if not isinstance(partitions, dict):
                continue
            mine = found.setdefault(topic, {})
            for partition, offset in partitions.items():
                mine[partition] = min(mine.get(partition, offset), offset)
    return found


def write_notes(file: Place, notes: Mapping[str, object]) -> None:
    """Replace the notes atomically: a reader finds either the old or the new ones."""
    write_whole(file, json.dumps(notes, indent=1))
