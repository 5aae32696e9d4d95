"""A context for tests of a single processor, without a topology and without Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from zlib import crc32

from millrace_runtime.dsl.stores import Store
from millrace_runtime.processor import ProcessorContext, Record
from millrace_runtime.processor.frames import Frame
from millrace_runtime.testing.memory_stores import MemoryStore, memory_store


class CapturedForward(NamedTuple):
    """A forwarded record, and the output that it was sent to (None: all)."""

    record: Record[Any, Any]
    child_name: str | None = None


class CapturedPunctuator:
    """A schedule of the processor, which the test runs by hand: `punctuator(ms)`."""

    def __init__(
        self,
        interval: int,
        type: str,
        punctuator: Callable[[int], None],
        start_time: int | None = None,
    ) -> None:
        self.interval, self.type, self.punctuator = interval, type, punctuator
        self.start_time = start_time
        self.cancelled = False

    def cancel(self) -> None:
        """Mark the schedule as canceled."""
        self.cancelled = True


class _Host:
    """The host of a processor under test: it keeps what the processor does."""

    def __init__(self, task_id: str, stores: Iterable[Store]) -> None:
        self.task_id = task_id
        self.stores: dict[str, object] = {each.name: memory_store(each) for each in stores}
        self.schedules: dict[int, Callable[[int], None]] = {}
        self.forwards: list[CapturedForward] = []
        self.punctuators: list[CapturedPunctuator] = []
        self.now: Frame = {
            "topic": None, "partition": -1, "offset": -1, "stream_time": -1, "wall_clock": 0,
        }  # fmt: skip

    def open(self) -> None:
        """The task has not ended."""

    def acting(self, what: str) -> None:
        """The processor may do everything."""

    def send(self, *message: Any) -> None:
        """Keep a schedule."""
        what, number, interval, type_, start = message
        if what == "schedule":
            captured = CapturedPunctuator(interval, type_, self.schedules[number], start)
            self.punctuators.append(captured)

    def ask(self, *message: Any) -> Any:
        """Return the seed and the processing time of the current record."""
        place = [self.now[name] for name in ("topic", "partition", "offset")]
        return {"seed": crc32(repr(place).encode()), "time": self.now["wall_clock"]}

    def forward(self, record: Record[Any, Any], to: str | None) -> None:
        """Keep a forwarded record. Raises TypeError for anything else."""
        if not isinstance(record, Record):
            raise TypeError(f"what is forwarded must be a Record, not {type(record).__name__}")
        self.forwards.append(CapturedForward(record.replace(), to))

    def cancel(self, number: int) -> None:
        """Mark a schedule as canceled."""
        if self.schedules.pop(number, None) is not None:
            self.punctuators[number - 1].cancel()


class MockProcessorContext(ProcessorContext[Any, Any]):
    """The context of a processor under test; pass it to the processor's `init`.

    `stores`: the stores of the program, which are empty and in memory. The test sets the current
    record's place and the clocks; nothing happens by itself.
    """

    def __init__(self, *, stores: Iterable[Store] = (), task_id: str = "0_0") -> None:
        self._mock = _Host(task_id, stores)
        super().__init__(self._mock)
        self._committed = False

    def set_record_metadata(self, topic: str, partition: int, offset: int) -> None:
        """Set topic, partition and offset of the current record."""
        now = self._mock.now
        now["topic"], now["partition"], now["offset"] = topic, partition, offset
        self._mock.now.pop("moment", None)

    def set_current_stream_time(self, ms: int) -> None:
        """Set the stream time."""
        self._mock.now["stream_time"] = ms

    def set_current_system_time(self, ms: int) -> None:
        """Set the wall clock."""
        self._mock.now["wall_clock"] = ms
        self._mock.now.pop("moment", None)

    def add_state_store(self, store: Store) -> MemoryStore:
        """Add an empty store, and return it."""
        made = memory_store(store)
        self._mock.stores[store.name] = made
        return made

    def forwarded(self, child_name: str | None = None) -> list[CapturedForward]:
        """Return what was forwarded: everything, or what the output `child_name` gets."""
        return [
            each
            for each in self._mock.forwards
            if child_name is None or each.child_name in (None, child_name)
        ]

    def reset_forwards(self) -> None:
        """Forget what was forwarded so far."""
        self._mock.forwards.clear()

    def scheduled_punctuators(self) -> list[CapturedPunctuator]:
        """Return all schedules in the order of their creation."""
        return list(self._mock.punctuators)

    def commit(self) -> None:
        """Note that a commit was requested."""
        self._committed = True

    def committed(self) -> bool:
        """Return whether a commit was requested."""
        return self._committed

    def reset_commit(self) -> None:
        """Forget the request for a commit."""
        self._committed = False
