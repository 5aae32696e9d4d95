"""A shadow: a job that follows another one's checkpoint, so that their outputs can be compared.

It reads the same records as the deployment that it follows, never more: each of its micro-batches
ends where one of the deployment's ended. The deployment is not changed and does not wait: its
checkpoint is only read. Both jobs note the ends of their output topics (`ENDS`, written by the
sink); `shadow.json` has the ends for both jobs at offsets that both have reached.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from millrace_model.graphs import GraphNode
from millrace_model.notes import Notes
from millrace_model.reading import Shape, read
from millrace_model.shadows import BothOutputs, DoneBatch, ShadowNotes, WrittenOutputs

from millrace_runtime.checkpoint.files import Places, places_in, write_notes
from millrace_runtime.checkpoint.moving import Read, last_batch, reads_of
from millrace_runtime.errors import MillraceError
from millrace_runtime.kafka import topics

#: The file with the ends of a job's output topics after its last micro-batch.
ENDS = "outputs.json"
#: The file with the progress of a shadow: `began`, `planned` and `reached`.
REACHED = "shadow.json"
NOTES = "stores.json"
#: Interval at which a shadow looks for a new micro-batch of the deployment.
LOOK_SECONDS = 1.0
_VERSION = re.compile(r"(\d+)(?:_[0-9a-f-]+)?\.(?:zip|changelog)")


def done_by(folder: Path) -> DoneBatch | None:
    """Return the last micro-batch of the deployment with this checkpoint, or None if unknown."""
    noted = _read(WrittenOutputs, folder / ENDS)
    if noted is None:
        return None
    stream, batch = folder / noted["stream"], noted["batch"]
    if not (stream / "commits" / str(batch)).exists():
        return None  # written, but not yet committed
    try:
        places = places_in(stream / "offsets" / str(batch))
    except OSError:
        return None
    return {**noted, "places": places}


def _read(shape: type[Shape], file: Path) -> Shape | None:
    """Return the content of a file of notes; None without valid ones."""
    try:
        return read(shape, json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def copy_state(origin: Path, folder: Path, done: DoneBatch) -> None:
    """Give a job the checkpoint that another one had after a micro-batch, with a new query id.

    Files of the state never change once they are written, so they are linked if both folders are in
    the same file system. Files of later micro-batches are omitted.
    """
    notes = _read(Notes, origin / NOTES) or {}
    if notes.get("stream", "stream") != done["stream"]:
        raise MillraceError(
            "shadow_state_moving",
            "The state of the running deployment is being moved. Try again after its next batch.",
        )
    source, target = origin / done["stream"], folder / "stream"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in ("offsets", "commits"):
        (target / name).mkdir()
        for file in (source / name).glob("[0-9]*"):
            if file.name.isdecimal() and int(file.name) <= done["batch"]:
                _copied(file, target / name / file.name, link=False)
    for file in (source / "sources").rglob("*"):
        if file.is_file() and not file.name.startswith("."):
            _copied(file, target / file.relative_to(source), link=False)
    for file in (source / "state").rglob("*"):
        version = _VERSION.fullmatch(file.name)
        late = version is not None and int(version[1]) > done["batch"] + 1
        if file.is_file() and not file.name.startswith(".") and not late:
            _copied(file, target / file.relative_to(source), link=True)
    _new_query(target)
    left = {name: value for name, value in notes.items() if name not in ("kept", "begun")}
    write_notes(folder / NOTES, {**left, "stream": "stream"})


def _copied(file: Path, to: Path, *, link: bool) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        if link:
            try:
                os.link(file, to)
            except OSError as error:
                if isinstance(error, FileNotFoundError):
                    raise
                shutil.copyfile(file, to)
        else:
            shutil.copyfile(file, to)
    except FileNotFoundError:
        return  # deleted meanwhile, as files of old batches are


def _new_query(stream: Path) -> None:
    """Assign a new query id. Transactions are named after it, so two jobs must not share one."""
    stream.mkdir(parents=True, exist_ok=True)
    (stream / "metadata").write_text(json.dumps({"id": str(uuid.uuid4())}), encoding="utf-8")


@dataclasses.dataclass
class Shadow:
    """Plans a shadow's micro-batches. `origin`: the deployment's checkpoint; `folder`: its own."""

    origin: Path
    folder: Path
    #: whether it begins with a copy of the deployment's state instead of empty stores
    copies: bool
    max_records: int

    @property
    def noted(self) -> ShadowNotes:
        """The content of `shadow.json`."""
        return _read(ShadowNotes, self.folder / REACHED) or {}

    def prepare(self) -> bool:
        """Return whether there is something to read; first copy the state if that is due."""
        if self._unfinished:
            return True
        done = done_by(self.origin)
        if done is None:
            return False
        if self.copies and not (self.folder / NOTES).exists():
            copy_state(self.origin, self.folder, done)
            began: BothOutputs = {"theirs": done["ends"], "ours": {}, "places": done["places"]}
            self._note({"began": began})
        reached = self.noted.get("reached") or self.noted.get("began")
        return reached is None or reached["places"] != done["places"]

    @property
    def _unfinished(self) -> bool:
        noted = self.noted
        return "planned" in noted and noted["planned"] != noted.get("last")

    def _note(self, what: ShadowNotes) -> None:
        write_notes(self.folder / REACHED, {**self.noted, **what})

    def plan(self, location: str, nodes: Iterable[GraphNode], begin: Begin) -> None:
        """Write the end offsets of the next micro-batch, as Spark does before it runs one."""
        stream = Path(location)
        last, done = last_batch(stream), done_by(self.origin)
        number = 0 if last is None else last + 1
        if (stream / "offsets" / str(number)).exists():
            return  # an interrupted micro-batch is run again as it was planned
        if done is None:
            raise MillraceError("shadow_not_possible", "The running deployment has no checkpoint.")
        before = _lines(stream / "offsets" / str(last)) if last is not None else []
        version, settings, *_ = before or _lines(
            self.origin / done["stream"] / "offsets" / str(done["batch"])
        )
        reads, found = reads_of(nodes), []
        whole = True
        for index, each in enumerate(reads):
            own = json.loads(before[2 + index]) if before else begin.first(each)
            ends, all_of_it = self._next(own, begin.ends(each, done["places"]))
            whole &= all_of_it
            found.append(json.dumps(ends))
        if begin.clock:
            found.append(str(_seconds(stream / "sources" / str(len(reads)) / "0")))
        if last is None:
            _new_query(stream)
        (stream / "offsets").mkdir(exist_ok=True)
        self._note(
            {"planned": {"stream": stream.name, "batch": number, "whole": whole, "theirs": done}}
        )
        text = "\n".join([version, _settings(settings, begin.tasks), *found])
        partial = stream / "offsets" / f".{number}.planned"
        partial.write_text(text, encoding="utf-8")
        partial.replace(stream / "offsets" / str(number))

    def _next(self, own: Places, ends: Places) -> tuple[Places, bool]:
        """Return offsets up to `max_records` further, and whether these are the ends."""
        behind = [
            (topic, number)
            for topic, partitions in ends.items()
            for number, end in partitions.items()
            if end > own.get(topic, {}).get(number, 0)
        ]
        share = max(1, self.max_records // max(1, len(behind)))
        found: Places = {topic: dict(partitions) for topic, partitions in own.items()}
        whole = True
        for topic, partitions in ends.items():
            for number, end in partitions.items():
                at = own.get(topic, {}).get(number, 0)
                if end < at:
                    raise MillraceError(
                        "shadow_overtaken",
                        f"The running deployment was started at an earlier offset of "
                        f"{topic}-{number} ({end}, after {at}): the outputs can no longer be "
                        "compared. End the shadow and start another one.",
                    )
                found.setdefault(topic, {})[number] = min(end, at + share)
                whole &= end <= at + share
        return found, whole

    def done(self) -> None:
        """Note what both jobs have written, if the planned micro-batch is committed."""
        plan = self.noted.get("planned")
        own = done_by(self.folder)
        if plan is None or own is None or own["batch"] != plan["batch"]:
            return
        theirs = plan["theirs"]
        both: BothOutputs = {
            "theirs": theirs["ends"],
            "ours": own["ends"],
            "places": theirs["places"],
        }
        what: ShadowNotes = {"last": plan}
        if plan["whole"]:
            what["reached"] = {**both, "at": int(time.time() * 1000)}
            if "began" not in self.noted:
                what["began"] = both  # it has caught up with the deployment
        self._note(what)


@dataclasses.dataclass(frozen=True)
class Begin:
    """What a plan needs from the job. `clock`: whether the wall clock is its last source."""

    session: Any
    client: Mapping[str, str]
    tasks: int
    clock: bool

    def first(self, read: Read) -> Places:
        """Return the offsets at which a query without a checkpoint begins: the first records."""
        held = topics.ranges(self.session, self.client, self._names(read))
        return {
            topic: {number: first for number, (first, _) in partitions.items()}
            for topic, partitions in held.items()
        }

    def ends(self, read: Read, theirs: Places) -> Places:
        """Return how far to read a source; topics that the deployment does not read, to the end."""
        names = self._names(read)
        others = [name for name in names if name not in theirs]
        found = topics.ends(self.session, dict(self.client), others) if others else {}
        return {**{name: theirs[name] for name in names if name in theirs}, **found}

    def _names(self, read: Read) -> list[str]:
        named = dict.fromkeys(read.topics)
        for pattern in read.patterns:
            found = topics.matching(self.session, dict(self.client), pattern)
            named |= dict.fromkeys(name for name in found if not name.startswith("__"))
        return list(named)


def _lines(offsets: Path) -> list[str]:
    return offsets.read_text(encoding="utf-8").splitlines()


def _settings(line: str, tasks: int) -> str:
    """Return Spark's settings of a micro-batch, with the current time and number of tasks."""
    found = json.loads(line)
    found["batchTimestampMs"] = int(time.time() * 1000)
    found.setdefault("conf", {})["spark.sql.shuffle.partitions"] = str(tasks)
    return json.dumps(found)


def _seconds(began: Path) -> int:
    """Return the offset of Spark's rate source: seconds since it began, according to its log."""
    try:
        start = int(began.read_text(encoding="utf-8").splitlines()[-1])
    except (OSError, ValueError, IndexError):
        return 0
    return max(0, int(time.time() * 1000) - start) // 1000
