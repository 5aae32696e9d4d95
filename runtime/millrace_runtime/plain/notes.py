"""The local copy of a checkpoint's offsets, for a server without access to the object store.

It has the layout of the checkpoint: for each query, the last batch in `offsets` and `commits`, and
where its sources began.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from millrace_runtime.checkpoint.storage import StoredPath, write_whole

_LOGS = ("offsets", "commits")


def copy_notes(checkpoint: StoredPath, notes: Path, queries: Iterable[str]) -> None:
    """Update the copy. Raises StorageError if the storage does not respond."""
    for query in queries:
        begun = (checkpoint / query).glob("sources/*/0")
        done = [int(e.name) for e in (checkpoint / query).glob("commits/*") if e.name.isdecimal()]
        last = str(max(done, default=-1))
        wanted = [(f"sources/{each.parent.name}/0", each) for each in begun]
        if done:
            # Copy the offsets first: a commit without them is not a batch.
            wanted += [(f"{at}/{last}", checkpoint / query / at / last) for at in _LOGS]
        for name, file in wanted:
            mine = notes / query / name
            if not mine.exists():
                mine.parent.mkdir(parents=True, exist_ok=True)
                write_whole(mine, file.read_text())
        for at in _LOGS:
            for old in (notes / query / at).glob("*"):
                if old.name.isdecimal() and int(old.name) < int(last):
                    old.unlink()
