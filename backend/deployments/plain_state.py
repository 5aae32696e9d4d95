"""Chooses the checkpoint that the next driver continues, for deployments with plain programs.

Uses only the standard library, because backend and workers share it. Programs of the plain dialect
that Spark cannot continue with the same checkpoint (`millrace_compiler.plain.identity`) have one
each, `plain/N` beside the `checkpoint` of the exact dialect; so has a start from another position.
`plain/current.json` contains the one in use. A program that follows another one, of either dialect,
begins at the offsets that the other one has committed. In an object store, checkpoints have the
same names, and the driver copies their offsets into the local folders.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from millrace_compiler.documents.topic_patterns import topic_pattern
from millrace_compiler.graphs.kinds import source_kinds
from millrace_model.documents import TopologyDocument
from millrace_model.drivers import BeginRequest

from deployments import files

#: offset of the next record, by topic and partition
Places = dict[str, dict[str, int]]

FOLDER = "plain"
CURRENT = "current.json"


class Exact(TypedDict):
    """An exact driver that followed: its request, and where the exact checkpoint was until then."""

    begin: BeginRequest
    mark: list[Any]


class Entry(TypedDict):
    """A checkpoint of a plain program, in ``plain/current.json``.

    ``program``: its identity. ``begin``: where it began. ``request``: a start from another position
    (`millrace_runtime.checkpoint.starting_point`); ``begun``: the id of the last one. ``previous``:
    the entry before, if it committed anything.
    """

    number: int
    program: str
    begin: Places
    request: BeginRequest | None
    begun: NotRequired[str | None]
    previous: Entry | None
    exact: Exact | None


@dataclass(frozen=True)
class Entered:
    """The checkpoint and the beginning of the next driver.

    ``folder``: its checkpoint, or the notes of one in an object store, which has the same path
    there; ``begin`` and ``request``: where it begins if the checkpoint is new.
    """

    folder: Path
    begin: Places
    request: BeginRequest | None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def last_program(directory: Path) -> str | None:
    """Return the identity of the plain program that ran last; None if that was not a plain one.

    ``directory``: that of the deployment, here and below.
    """
    entry = _settled(directory, _read(directory))
    return None if entry is None or _is_exact(directory, entry) else str(entry["program"])


def has_begun(directory: Path) -> bool:
    """Whether a query of a plain program has noted where it began."""
    return next((directory / FOLDER).glob("*/*/offsets/*"), None) is not None


def begin_of_exact(directory: Path) -> BeginRequest | None:
    """Return the start request of an exact driver that follows a plain program, if any."""
    entry = _read(directory)
    exact = None if entry is None else entry["exact"]
    return None if exact is None else exact["begin"]


def enter_plain(directory: Path, program: str, request: BeginRequest | None = None) -> Entered:
    """The checkpoint of a plain program's driver; ``program``: its identity.

    ``request``: a start from another position, applied once by its id. Safe to repeat. No driver
    may run.
    """
    asked = None if request is None else request["id"]
    entry = _read(directory)
    current = entry is not None and not entry["exact"]
    if entry is None or not current or (entry["program"], entry.get("begun")) != (program, asked):
        entry = _settled(directory, entry)
        exact = entry is None or _is_exact(directory, entry)
        due = request is not None and (entry is None or entry.get("begun") != asked)
        if entry is not None and not exact and entry["program"] == program and not due:
            entry = {**entry, "exact": None}  # what came after it has committed nothing
        else:
            entry = {
                "number": 1 + max(_numbers(directory), default=0),
                "program": program,
                "begin": _exact_places(directory)
                if exact or entry is None
                else _committed(directory, entry),
                "request": request if due else None,
                "begun": asked if due or entry is None else entry.get("begun"),
                "previous": None if entry is None else {**entry, "previous": None},
                "exact": None,
            }
        _write(directory, entry)
        _forget_others(directory, entry)
    folder = directory / FOLDER / str(entry["number"])
    return Entered(folder, entry["begin"], entry.get("request"))


def enter_exact(directory: Path, document: TopologyDocument) -> None:
    """Note that a driver of the exact dialect is started for a document.

    Safe to repeat. No driver may run.
    """
    entry = _settled(directory, _read(directory))
    if entry is None:
        (directory / FOLDER / CURRENT).unlink(missing_ok=True)
    elif not entry["exact"]:
        places = _read_by(document, _committed(directory, entry))
        request: BeginRequest = {"reset": True, "from": "offsets" if places else "sources"}
        if places:
            request["offsets"] = places
        named = _hash(json.dumps([entry["number"], request], sort_keys=True))[:16]
        begin: BeginRequest = {"id": f"plain-{named}", "reset": True, "from": request["from"]}
        if places:
            begin["offsets"] = places
        _write(directory, {**entry, "exact": {"begin": begin, "mark": _position(directory)}})


# ---- entries -------------------------------------------------------------------------------


def _read(directory: Path) -> Entry | None:
    try:
        found = json.loads(files.read_text(directory, directory / FOLDER / CURRENT))
    except FileNotFoundError:
        return None
    return cast(Entry, found) if isinstance(found, dict) else None


def _write(directory: Path, entry: Entry) -> None:
    file = directory / FOLDER / CURRENT
    file.parent.mkdir(parents=True, exist_ok=True)
    files.write_text(directory, file, json.dumps(entry, indent=1))


def _settled(directory: Path, entry: Entry | None) -> Entry | None:
    """Return the newest entry that committed a batch or was followed by an exact driver."""
    while entry is not None and not entry["exact"] and not any(_batches(directory, entry)):
        entry = entry["previous"]
    return entry


def _is_exact(directory: Path, entry: Entry) -> bool:
    """Whether a driver of the exact dialect has committed a batch after the plain program."""
    exact = entry["exact"]
    return exact is not None and exact["mark"] != _position(directory)


def _forget_others(directory: Path, entry: Entry) -> None:
    """Delete checkpoints that no program will continue."""
    kept = {entry["number"], (entry["previous"] or entry)["number"]}
    for number in _numbers(directory):
        if number not in kept:
            files.remove_folder(directory, directory / FOLDER / str(number))


def _numbers(directory: Path) -> Iterable[int]:
    return [int(each.name) for each in (directory / FOLDER).glob("*") if each.name.isdecimal()]


def _batches(directory: Path, entry: Entry) -> list[Path]:
    """Return the offsets file of the last committed batch, for each query of a program."""
    folder = directory / FOLDER / str(entry["number"])
    queries = (query for query in sorted(folder.glob("*")) if query.is_dir())
    return [file for file in map(_last_batch, queries) if file is not None]


def _committed(directory: Path, entry: Entry) -> Places:
    """Return where another program continues: for each partition, where the slowest query is.

    A query that has committed nothing counts with the offsets at which it began.
    """
    folder = directory / FOLDER / str(entry["number"])
    found: Places = {}
    for query in sorted(each for each in folder.glob("*") if each.is_dir()):
        last = _last_batch(query)
        files = sorted(query.glob("sources/*/0")) if last is None else [last]
        for file in files:
            _add(found, _places_in(directory, file, head=1 if last is None else 2))
    return {**entry["begin"], **found}


# ---- Spark's files -------------------------------------------------------------------------


def _last_batch(stream: Path) -> Path | None:
    """Return the offsets file of the last batch that a query has committed."""
    done = [int(each.name) for each in stream.glob("commits/*") if each.name.isdecimal()]
    file = stream / "offsets" / str(max(done, default=-1))
    return file if file.is_file() else None


def _position(directory: Path) -> list[Any]:
    """The query's folder in the exact checkpoint, and its last batch."""
    stream = _exact_stream(directory)
    last = _last_batch(stream)
    return [stream.name, None if last is None else int(last.name)]


def _exact_stream(directory: Path) -> Path:
    """Return the folder of the exact query; a moved one counts once it has committed a batch."""
    checkpoint = directory / "checkpoint"
    for notes in ("stores.next.json", "stores.json"):
        try:
            noted = json.loads(files.read_text(directory, checkpoint / notes))
        except (OSError, ValueError):
            continue
        stream = checkpoint / str(noted.get("stream", "stream"))
        if notes == "stores.json" or _last_batch(stream) is not None:
            return stream
    return checkpoint / "stream"


def _exact_places(directory: Path) -> Places:
    stream = _exact_stream(directory)
    last = _last_batch(stream)
    found: Places = {}
    for file in sorted(stream.glob("sources/*/0")) if last is None else [last]:
        _add(found, _places_in(directory, file, head=1 if last is None else 2))
    return found


def _places_in(directory: Path, file: Path, head: int) -> Places:
    """Return the offsets in a file of Spark; ``head``: number of lines before the first source."""
    found: Places = {}
    for line in files.read_text(directory, file).splitlines()[head:]:
        read = json.loads(line) if re.match(r"\s*\{", line) else {}
        _add(found, {t: each for t, each in read.items() if isinstance(each, dict)})
    return found


def _add(found: Places, more: Mapping[str, Mapping[str, int]]) -> None:
    """Add positions; for partitions that are in both, the earlier position counts."""
    for topic, partitions in more.items():
        mine = found.setdefault(topic, {})
        for number, offset in partitions.items():
            mine[number] = min(mine.get(number, offset), offset)


def _read_by(document: TopologyDocument, places: Places) -> Places:
    """Return the positions in topics that the streams and tables of a document read."""
    names: set[str] = set()
    patterns: list[str] = []
    for node in document.get("nodes", []):
        params = node.get("params") or {}
        if node["kind"] in source_kinds():
            names |= {*(params.get("topics") or []), params.get("topic") or ""}
            patterns += filter(None, [params.get("topic_pattern")])
    return {
        topic: found
        for topic, found in places.items()
        if topic in names or any(topic_pattern(each).matches(topic) for each in patterns)
    }
