"""The process that writes the records of all generators; one per installation.

The database has the number of written records, as of the last second. After this process ends,
another continues from there; records whose delivery was in progress may be written twice.
"""

from __future__ import annotations

import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import structlog
from confluent_kafka import KafkaError, KafkaException, Producer
from django.db import DatabaseError, connection
from django.utils import timezone
from millrace_backend import kafka
from millrace_backend.errors import ApiError, cause
from millrace_compiler.types.generating import Recipe
from millrace_model.events import CauseFields

from records.choices import GeneratorState
from records.encoding import Record, encoded_by_schema, records_of
from records.models import Generator

log = structlog.get_logger(__name__)

#: seconds between two reads of the database, and between two rounds of writing
LOOK_SECONDS, TURN_SECONDS = 1.0, 0.02
#: seconds by which a generator may be late before it skips what is due
MOST_BEHIND = 3.0
#: seconds for which records are encoded ahead, and their maximum number
AHEAD_SECONDS, MOST_AHEAD = 2.0, 2_000
#: seconds until an encoding that failed is retried
AGAIN_SECONDS = 3.0
#: errors that end a generator, because waiting would not help
_FATAL = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.MSG_SIZE_TOO_LARGE,
}


#: data of an error that is not a fact of its sentence
_OF_CAUSE = {"facts", "cause"}


class Ahead(threading.Thread):
    """Lets the simulator encode records ahead. Sets `found` or `error` before it ends."""

    def __init__(self, recipe: Recipe, due: Sequence[tuple[int, int]]) -> None:
        super().__init__(daemon=True, name="encode")
        self.due = due
        self.found: list[Record] = []
        self.error: ApiError | None = None
        self._recipe = recipe
        self.start()

    def run(self) -> None:
        """Encode the records, or store the error."""
        try:
            self.found = records_of(self._recipe, self.due, "generators")
        except ApiError as error:
            self.error = error


@dataclass
class Lane:
    """A running generator. ``began``: when its record number ``first`` was due.

    ``ahead``: encoded records, if the format has a schema; ``asked``: the thread that encodes more.
    """

    row: Generator
    recipe: Recipe
    began: float
    first: int
    #: number of the next record
    number: int
    written: int
    problem: CauseFields | None = None
    failed: bool = False
    ahead: deque[Record] = field(default_factory=deque)
    asked: Ahead | None = None
    #: after an error, the earliest time of the next encoding
    ask_at: float = 0.0

    @classmethod
    def of(cls, row: Generator, now: float) -> Lane:
        """Return the lane of a row, which continues after the records already written."""
        return cls(row, row.recipe_of(), now, row.written, row.written, row.written)

    def due(self, now: float) -> int:
        """Return the number of records that are due."""
        wanted = self.first + int((now - self.began) * self.row.rate) + 1
        if wanted - self.number > max(MOST_BEHIND * self.row.rate, 1):
            # After a pause of the machine or an outage, do not catch up in a burst.
            self.began, self.first = now, self.number
            self.ahead.clear()
            return 1
        if self.row.most is not None:
            wanted = min(wanted, self.row.most)
        return max(wanted - self.number, 0)

    def next(self, now: float) -> Record | None:
        """Return the next record, or None if it is not encoded yet or cannot be."""
        if encoded_by_schema(self.recipe):
            self._encode(now)
            return self.ahead[0] if self.ahead else None
        try:
            (record,) = records_of(self.recipe, [(self.number, int(time.time() * 1000))], "")
        except ApiError as error:
            self._stuck(error, now)
            return None
        return record

    def passed(self) -> None:
        """Advance to the next record after the producer has accepted one."""
        self.number += 1
        if self.ahead:
            self.ahead.popleft()

    def _stuck(self, error: ApiError, now: float) -> None:
        message = f"{error.message} {error.hint}".strip()
        facts = error.data.get("facts") or {}
        plain = {name: fact for name, fact in error.data.items() if name not in _OF_CAUSE}
        self.problem = cause(error.code, message, {**plain, **facts}, cause=error.data.get("cause"))
        self.failed = error.code == "value_unfit"
        self.ask_at = now + AGAIN_SECONDS

    def _encode(self, now: float) -> None:
        """Take the records that were encoded, and start encoding more early enough."""
        if self.asked is not None and not self.asked.is_alive():
            done, self.asked = self.asked, None
            if done.error is not None:
                self._stuck(done.error, now)
            elif done.due[0][0] == self.number + len(self.ahead):
                self.ahead.extend(done.found)
        wanted = min(max(1, int(self.row.rate * AHEAD_SECONDS)), MOST_AHEAD)
        if self.asked is None and now >= self.ask_at and len(self.ahead) * 2 <= wanted:
            begin = self.number + len(self.ahead)
            clock = time.time() - time.monotonic() + self.began
            times = (
                (n, int((clock + (n - self.first) / self.row.rate) * 1000))
                for n in range(begin, begin + wanted)
            )
            self.asked = Ahead(self.recipe, list(times))


class Writer:
    """Writes the records of all generators until ``stopped`` returns true.

    ``listening``: a socket on which a connection announces a new generator. ``quiet``: the seconds
    without a generator after which the writer ends; None for never.
    """

    def __init__(
        self,
        stopped: Callable[[], bool],
        listening: socket.socket | None = None,
        quiet: float | None = None,
    ) -> None:
        self._stopped, self._listening, self._quiet = stopped, listening, quiet
        self._lanes: dict[int, Lane] = {}
        self._producer = Producer(
            {
                **kafka.configuration(),
                "partitioner": "murmur2_random",
                "linger.ms": 20,
                # After this time, a record that was not delivered is outdated.
                "message.timeout.ms": 30_000,
                # Detects the deletion of a topic soon.
                "topic.metadata.propagation.max.ms": 15_000,
                "topic.metadata.refresh.interval.ms": 5_000,
                "queue.buffering.max.messages": 20_000,
            }
        )

    def run(self) -> bool:
        """Write, and read the database at intervals. Return whether it ends for lack of work."""
        looked, used, idle = 0.0, time.monotonic(), False
        while not self._stopped() and not idle:
            now = time.monotonic()
            if now - looked >= LOOK_SECONDS:
                looked = now
                self._look(now)
            for lane in list(self._lanes.values()):
                self._write(lane, now)
            self._producer.poll(0)
            if self._lanes:
                used = now
                time.sleep(TURN_SECONDS)
            elif self._announced():
                looked, used = 0.0, now
            else:
                idle = self._quiet is not None and now - used >= self._quiet
        self._producer.flush(5)
        try:
            self._keep()
            self._count(self._lanes)
        except DatabaseError as error:
            log.warning("the last written positions could not be stored", reason=str(error))
        return idle

    def _announced(self) -> bool:
        """Wait a moment; return whether a new generator was announced."""
        if self._listening is None:
            time.sleep(LOOK_SECONDS / 4)
            return False
        if not select.select([self._listening], [], [], LOOK_SECONDS)[0]:
            return False
        self._listening.accept()[0].close()
        return True

    def _look(self, now: float) -> None:
        """Store what was written, and update the list of running generators."""
        try:
            self._keep()
            rows = {
                row.pk: row for row in Generator.objects.filter(state=GeneratorState.RUNNING)[:1000]
            }
        except DatabaseError as error:
            log.warning("the database does not respond", reason=str(error))
            connection.close()
            return
        # One that was stopped and started again in between ends at another time.
        gone = {
            pk
            for pk, lane in self._lanes.items()
            if pk not in rows or rows[pk].ends_at != lane.row.ends_at
        }
        if gone:
            # Deliveries in progress still count.
            self._producer.flush(2)
            self._count(gone)
        for pk in gone:
            del self._lanes[pk]
        for pk, row in rows.items():
            if pk not in self._lanes:
                self._lanes[pk] = Lane.of(row, now)

    def _count(self, lanes: Iterable[int]) -> None:
        """Store the number of written records, also for generators that have been stopped."""
        for pk in lanes:
            lane = self._lanes[pk]
            Generator.objects.filter(pk=pk, ends_at=lane.row.ends_at).update(written=lane.written)

    def _keep(self) -> None:
        """Store the figures of running generators, and end those that failed or reached a limit."""
        for lane in self._lanes.values():
            over = lane.row.over(lane.number)
            if over and lane.written < lane.number and not lane.failed:
                self._producer.flush(1)
            changes: dict[str, object] = {"written": lane.written, "problem": lane.problem}
            if lane.failed or over:
                state = GeneratorState.FAILED if lane.failed else GeneratorState.DONE
                changes |= {"state": state, "ended_at": timezone.now()}
            run = Generator.objects.filter(pk=lane.row.pk, ends_at=lane.row.ends_at)
            run.filter(state=GeneratorState.RUNNING).update(**changes)

    def _write(self, lane: Lane, now: float) -> None:
        """Write the records that are due."""
        if lane.failed or lane.row.over(lane.number):
            return
        due = lane.due(now)
        for _ in range(due):
            record = lane.next(now)
            if record is None:
                return
            key, value, timestamp = record
            try:
                self._producer.produce(
                    lane.row.topic,
                    key=key,
                    value=value,
                    timestamp=timestamp,
                    on_delivery=lambda error, _message: self._delivered(lane, error),
                )
            except KafkaException as error:
                self._delivered(lane, error.args[0])
                return
            except BufferError:
                message = "Kafka does not accept records; they wait until it does."
                lane.problem = cause("kafka_full", message)
                return
            lane.passed()

    def _delivered(self, lane: Lane, error: KafkaError | None) -> None:
        if error is None:
            lane.written += 1
            lane.problem = None
            return
        reason = error.str()
        message = f"A record could not be written: {reason}."
        lane.problem = cause("not_written", message, {"reason": reason})
        lane.failed = error.code() in _FATAL
