"""Compares two sets of records by key on disk: equal ones, differing ones, those in one set only.

Memory is bounded by SQLite's cache; the file contains a digest of each record, and the beginning of
its key and value for examples. Independent of Kafka and Django.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypedDict

#: the outputs of the running deployment, and those of its shadow
RUNNING, SHADOW = 0, 1
#: number of bytes of a key or value to show in an example
SHOWN = 2_000
#: maximum number of examples of each kind and topic
EXAMPLES = 20
#: number of records to match at once, on average
BUCKET = 200_000
_CACHE_KB = 16_384

_SCHEMA = """
CREATE TABLE IF NOT EXISTS record (
  side INTEGER, topic TEXT, bucket INTEGER, part INTEGER, pos INTEGER, time INTEGER,
  keyed BLOB, digest BLOB, shown_key BLOB, shown_value BLOB, headers TEXT);
CREATE TABLE IF NOT EXISTS place (side INTEGER, topic TEXT, part INTEGER, next INTEGER,
  PRIMARY KEY (side, topic, part));
"""
# The n-th of several identical records matches the n-th on the other side.
_NUMBERED = """
CREATE TEMP TABLE numbered AS
SELECT rowid AS id, side, keyed, digest, part, pos,
  row_number() OVER (PARTITION BY side, keyed, digest ORDER BY part, pos) AS n
FROM record WHERE topic = :topic AND bucket = :bucket;
"""
_INDEXED = "CREATE INDEX temp.numbered_by ON numbered (keyed, digest, n, side)"
_EQUAL = """
CREATE TEMP TABLE equal AS
SELECT a.id AS a, b.id AS b, a.keyed AS keyed, a.part AS ap, a.pos AS ao, b.part AS bp, b.pos AS bo
FROM numbered a JOIN numbered b
  ON a.side = 0 AND b.side = 1 AND a.keyed IS b.keyed AND a.digest = b.digest AND a.n = b.n;
"""
_REORDERED = """
SELECT count(*) FROM (
  SELECT row_number() OVER (PARTITION BY keyed ORDER BY ap, ao) AS first,
         row_number() OVER (PARTITION BY keyed ORDER BY bp, bo) AS second
  FROM equal WHERE keyed IS NOT NULL) WHERE first <> second;
"""
# The remaining records of a key are compared in their order.
_LEFT = """
CREATE TEMP TABLE rest AS
SELECT id, side, keyed,
  row_number() OVER (PARTITION BY side, keyed ORDER BY part, pos) AS n
FROM numbered WHERE id NOT IN (SELECT a FROM equal UNION ALL SELECT b FROM equal);
"""
_RESTED = "CREATE INDEX temp.rest_by ON rest (keyed, n, side)"
_DIFFERING = """
CREATE TEMP TABLE differing AS
SELECT a.id AS a, b.id AS b FROM rest a JOIN rest b
  ON a.side = 0 AND b.side = 1 AND a.keyed = b.keyed AND a.n = b.n;
"""
_ONLY = """
SELECT id FROM rest WHERE side = :side
  AND id NOT IN (SELECT a FROM differing UNION ALL SELECT b FROM differing) ORDER BY id
"""
_COUNTS = ("SELECT count(*) FROM temp.equal", "SELECT count(*) FROM temp.differing")
_TABLES = ("numbered", "equal", "rest", "differing")


#: a row of the table of records
Row = tuple[Any, ...]


class RawRecord(TypedDict):
    """A record of an example."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[list[str | None]]


class RawExample(TypedDict):
    """A difference: its kind, the key, and the record of each side."""

    kind: str
    key: bytes | None
    running: RawRecord | None
    shadow: RawRecord | None


class Compared(Protocol):
    """A record to compare; its timestamp is in milliseconds since the epoch."""

    @property
    def partition(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]: ...


@dataclass
class Counts:
    """The number of records of a topic, by result."""

    equal: int = 0
    #: equal records that are in another order among the records of their key
    reordered: int = 0
    differing: int = 0
    only_running: int = 0
    only_shadow: int = 0

    def add(self, other: Counts) -> None:
        """Add the counts of other records."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


class OutputDiff:
    """A comparison on disk, which can be closed and reopened. `buckets`: parts of each topic."""

    def __init__(self, file: Path, buckets: int = 1) -> None:
        self.buckets = buckets
        self._db = sqlite3.connect(file)
        self._db.execute(f"PRAGMA cache_size=-{_CACHE_KB}")
        self._db.execute("PRAGMA temp_store=FILE")
        self._db.execute("PRAGMA synchronous=OFF")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def add(self, side: int, topic: str, rows: Iterable[Row], places: Mapping[int, int]) -> None:
        """Add records (`row`), and where to continue by partition.

        Both are written in one transaction, so that a repeated step adds nothing twice.
        """
        with self._db:
            self._db.executemany("INSERT INTO record VALUES (?,?,?,?,?,?,?,?,?,?,?)", rows)
            self._db.executemany(
                "INSERT OR REPLACE INTO place VALUES (?, ?, ?, ?)",
                [(side, topic, part, at) for part, at in places.items()],
            )

    def row(self, side: int, topic: str, record: Compared) -> Row:
        """Return a bounded extract of a record, which is compared later."""
        headers = [[name, None if raw is None else raw.hex()] for name, raw in record.headers]
        keyed = None if record.key is None else hashlib.blake2b(record.key, digest_size=16).digest()
        digest = hashlib.blake2b(digest_size=16)
        for part in (record.value, json.dumps([record.timestamp, headers]).encode()):
            digest.update(b"-" if part is None else b"+%d:" % len(part) + part)
        bucket = 0 if keyed is None else int.from_bytes(keyed[:4]) % self.buckets
        shown = (None if raw is None else raw[:SHOWN] for raw in (record.key, record.value))
        place = (record.partition, record.offset, record.timestamp)
        return (side, topic, bucket, *place, keyed, digest.digest(), *shown, json.dumps(headers))

    def places(self, side: int, topic: str) -> dict[int, int]:
        """Return where to continue in each partition."""
        found = self._db.execute(
            "SELECT part, next FROM place WHERE side = ? AND topic = ?", (side, topic)
        )
        return dict(found.fetchall())

    def match(
        self, topic: str, bucket: int, examples: int = EXAMPLES
    ) -> tuple[Counts, list[RawExample]]:
        """Compare a part of a topic's records; return counts, and examples of differences."""
        db = self._db
        for table in _TABLES:
            db.execute(f"DROP TABLE IF EXISTS temp.{table}")
        db.execute(_NUMBERED, {"topic": topic, "bucket": bucket})
        for statement in (_INDEXED, _EQUAL, _LEFT, _RESTED, _DIFFERING):
            db.execute(statement)
        equal, differing = (db.execute(count).fetchone()[0] for count in _COUNTS)
        counts = Counts(equal, db.execute(_REORDERED).fetchone()[0], differing)
        shown: list[RawExample] = []
        for a, b in db.execute("SELECT a, b FROM differing ORDER BY a LIMIT ?", (examples,)):
            shown.append(self._example("differing", a, b))
        for side, kind in ((RUNNING, "only_running"), (SHADOW, "only_shadow")):
            only = db.execute(_ONLY, {"side": side})
            found = 0
            for (id_,) in only:
                if found < examples:
                    pair = (id_, None) if side == RUNNING else (None, id_)
                    shown.append(self._example(kind, *pair))
                found += 1
            setattr(counts, kind, found)
        return counts, shown

    def _example(self, kind: str, running: int | None, shadow: int | None) -> RawExample:
        left, right = self._shown(running), self._shown(shadow)
        one = left or right
        key = one and one["key"]
        return {"kind": kind, "key": key, "running": left, "shadow": right}

    def _shown(self, id_: int | None) -> RawRecord | None:
        if id_ is None:
            return None
        part, at, time, key, value, headers = self._db.execute(
            "SELECT part, pos, time, shown_key, shown_value, headers FROM record WHERE rowid = ?",
            (id_,),
        ).fetchone()
        return {
            "partition": part,
            "offset": at,
            "timestamp": time,
            "key": key,
            "value": value,
            "headers": json.loads(headers),
        }
