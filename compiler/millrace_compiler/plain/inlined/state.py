"""Stateful processors, for operations that Spark does not have."""

from collections.abc import Iterator
from heapq import heapify, heappop, heappush, merge
from itertools import pairwise
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle


class TableJoin(StatefulProcessor):
    """Keeps the rows of a key on both sides, and emits both after each change."""

    def __init__(self, how: str, left: str, right: str) -> None:
        self.how = how
        self.types = {"left": left, "right": right}

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.states = {
            side: handle.getValueState(side, f"value {type_}, timestamp BIGINT")
            for side, type_ in self.types.items()
        }

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        kept = {side: state.get() or (None, -1) for side, state in self.states.items()}
        for row in _in_order(rows):
            value, (before, _) = row[row.side], kept[row.side]
            other, time = kept["right" if row.side == "left" else "left"]
            kept[row.side] = (value, row.timestamp) if value is not None else (None, -1)
            alone = self.how == "outer" or (self.how == "left" and row.side == "left")
            if other is not None or (alone and (value is not None or before is not None)):
                yield Row(
                    key=row.key,
                    left=kept["left"][0],
                    right=kept["right"][0],
                    timestamp=max(row.timestamp, time),
                )
        for side, state in self.states.items():
            if kept[side][0] is None:
                state.clear()
            else:
                state.update(kept[side])

    def close(self) -> None:
        """Does nothing: no resources are held between micro-batches."""


class TableLookup(StatefulProcessor):
    """Keeps the row of a key, and emits it with each record of the stream."""

    def __init__(self, right: str) -> None:
        self.type = right

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = handle.getValueState("row", f"value {self.type}")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        (right,) = self.state.get() or (None,)
        for row in _in_order(rows):
            if row.side == "right":
                right = row.right
            else:
                yield Row(key=row.key, left=row.left, right=right, timestamp=row.timestamp)
        if right is None:
            self.state.clear()
        else:
            self.state.update((right,))

    def close(self) -> None:
        """Does nothing: no resources are held between micro-batches."""


class TableChanges(StatefulProcessor):
    """Keeps the row of a key; a change emits the old row and the new one."""

    def __init__(self, value: str) -> None:
        self.type = value

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = handle.getValueState("row", f"value {self.type}")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        (old,) = self.state.get() or (None,)
        for row in _in_order(rows):
            if old is not None:
                yield Row(key=row.key, value=old, sign=-1, timestamp=row.timestamp)
            if row.value is not None:
                yield Row(key=row.key, value=row.value, sign=1, timestamp=row.timestamp)
            old = row.value
        if old is None:
            self.state.clear()
        else:
            self.state.update((old,))

    def close(self) -> None:
        """Does nothing: no resources are held between micro-batches."""


class References(StatefulProcessor):
    """Keeps the foreign key of a row; sends a change to it, and to the previous one."""

    def __init__(self, how: str, foreign_key: str) -> None:
        self.how = how
        self.type = foreign_key

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.state = handle.getValueState("reference", f"foreign_key {self.type}")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        exists, (before,) = self.state.exists(), self.state.get() or (None,)
        for row in _in_order(rows):
            now, left = row.foreign_key, self.how == "left"
            moves = before != now and (before is not None or (left and exists))
            if moves:
                deletes = now is None and not left
                yield self.change(row, before, None, "always" if deletes else "never")
            if now is not None or (left and (exists or row.left is not None)):
                yield self.change(row, now, row.left, "always" if moves or left else "found")
            exists, before = row.left is not None, now
        if exists:
            self.state.update((before,))
        else:
            self.state.clear()

    def change(self, row: Row, foreign_key: Any, left: Any, answer: str) -> Row:
        return Row(
            foreign_key=foreign_key,
            key=row.key,
            left=left,
            answer=answer,
            offset=row.offset,
            partition=row.partition,
            topic=row.topic,
            timestamp=row.timestamp,
        )

    def close(self) -> None:
        """Does nothing: no resources are held between micro-batches."""


class ForeignKeyJoin(StatefulProcessor):
    """Keeps a right row and the left rows that refer to it; emits the results that change."""

    def __init__(self, key: str, left: str, right: str) -> None:
        self.key, self.left, self.right = key, left, right

    def init(self, handle: StatefulProcessorHandle) -> None:
        value = f"value {self.left}, timestamp BIGINT"
        self.referring = handle.getMapState("left", f"key {self.key}", value)
        self.row = handle.getValueState("right", f"value {self.right}, timestamp BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        right, time = self.row.get() or (None, -1)
        changed = False
        left: dict[Any, tuple[Any, int, bool]] = {}
        for row in _in_order(rows):
            if row.answer is None:
                changed, right = True, row.right
                time = row.timestamp if right is not None else -1
                left = {each: (*known[:2], True) for each, known in left.items()}
                continue
            if row.left is not None and row.foreign_key is not None:
                self.referring.updateValue((row.key,), (row.left, row.timestamp))
            else:
                self.referring.removeKey((row.key,))
            if row.answer == "never":
                left.pop(row.key, None)
            else:
                always = row.answer == "always" or left.get(row.key, (None, -1, False))[-1]
                left[row.key] = (row.left, row.timestamp, always)
        if changed:
            for (each,), known in self.referring.iterator():
                left.setdefault(each, (*known, True))
            if right is None:
                self.row.clear()
            else:
                self.row.update((right, time))
        for each, (value, since, always) in left.items():
            if always or right is not None:
                yield Row(key=each, left=value, right=right, timestamp=max(since, time))

    def close(self) -> None:
        """Does nothing: no resources are held between micro-batches."""


class SlidingWindows(StatefulProcessor):
    """Keeps the records of a key by time; emits the contents of the windows that a record changes.

    A window ends at each record, and another starts after it if it contains other records. A window
    closes when the watermark, whose delay includes window and grace period, passes its start.
    """

    def __init__(self, difference: int, value: str, final: bool = False) -> None:
        self.difference, self.value, self.final = difference, value, final

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        records = f"records ARRAY<STRUCT<number: BIGINT, value: {self.value}>>"
        self.state = handle.getMapState("records", "time BIGINT", records)

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        records, closed = self.records(), timerValues.getCurrentWatermarkInMs() or -1
        number = max((each[0] for found in records.values() for each in found), default=0)
        for row in _in_order(rows):
            before = self.starts(records)
            number += 1
            records.setdefault(row.time, []).append((number, row.value))
            self.state.updateValue((row.time,), (records[row.time],))
            self.handle.registerTimer(row.time + 2)
            for start in sorted(self.starts(records)):
                inside = start <= row.time <= start + self.difference
                new = start not in before and start == row.time + 1
                if start <= closed or not (inside or new):
                    continue
                if self.final:
                    self.handle.registerTimer(start + 1)
                else:
                    yield self.window(row.key, start, records)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        records, start = self.records(), expiredTimerInfo.getExpiryTimeInMs() - 1
        if self.final and start in self.starts(records):
            yield self.window(key[0], start, records)
        for time in records:
            if time < start:
                self.state.removeKey((time,))

    def records(self) -> dict[int, list[tuple[int, Any]]]:
        return {time: list(found) for (time,), (found,) in self.state.iterator()}

    def starts(self, records: dict[int, Any]) -> set[int]:
        times = sorted(records)
        behind = {at + 1 for at, then in pairwise(times) if then <= at + 1 + self.difference}
        return behind | {max(0, at - self.difference) for at in times}

    def window(self, key: Any, start: int, records: dict[int, list[tuple[int, Any]]]) -> Row:
        times = [time for time in records if start <= time <= start + self.difference]
        inside = sorted(each for time in times for each in records[time])
        values = [value for _, value in inside]
        return Row(key=key, start=start, records=values, timestamp=max(times))

    def close(self) -> None:
        """Does nothing: no resources are held between micro-batches."""


class Suppress(StatefulProcessor):
    """Buffers the last update of each key for a time, by the stream time of its partition.

    If more than `most` keys are buffered, the oldest is emitted early, or the query fails.
    """

    def __init__(
        self, limit: int, key: str, value: str, most: float = float("inf"), fails: bool = False
    ) -> None:
        self.limit, self.key, self.value = limit, key, value
        self.most, self.fails = most, fails

    def init(self, handle: StatefulProcessorHandle) -> None:
        update = f"since BIGINT, value {self.value}, timestamp BIGINT"
        self.state = handle.getMapState("waiting", f"key {self.key}", update)
        self.time = handle.getValueState("stream_time", "time BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        (time,) = self.time.get() or (-1,)
        before = {each: tuple(update) for (each,), update in self.state.iterator()}
        waiting = dict(before)
        queue = [(update[0], _bytes(each), each) for each, update in waiting.items()]
        heapify(queue)
        for row in _in_order(rows):
            time = max(time, row.timestamp)
            if row.key not in waiting:
                heappush(queue, (row.timestamp, _bytes(row.key), row.key))
            since = waiting.get(row.key, (row.timestamp,))[0]
            waiting[row.key] = (since, row.value, row.timestamp)
            while queue and (queue[0][0] <= time - self.limit or len(waiting) > self.most):
                if self.fails and queue[0][0] > time - self.limit:
                    raise OverflowError(f"more than {self.most} keys are buffered")
                each = heappop(queue)[-1]
                _, value, timestamp = waiting.pop(each)
                yield Row(key=each, value=value, timestamp=timestamp)
        for each in before.keys() - waiting.keys():
            self.state.removeKey((each,))
        for each, update in waiting.items():
            if update != before.get(each):
                self.state.updateValue((each,), update)
        self.time.update((time,))

    def close(self) -> None:
        """Does nothing: no resources are held between micro-batches."""


def _bytes(key: Any) -> bytes:
    """A key as Kafka's serializers write it."""
    if isinstance(key, int):
        return key.to_bytes(8, "big", signed=True)
    return key.encode() if isinstance(key, str) else bytes(key)


def _in_order(rows: Iterator[Row]) -> Iterator[Row]:
    """Records by offset within a partition, and by timestamp across partitions."""
    partitions: dict[tuple[str, int], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.offset):
        partitions.setdefault((row.topic, row.partition), []).append(row)
    return merge(*partitions.values(), key=lambda row: row.timestamp)
