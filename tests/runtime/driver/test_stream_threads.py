"""Jobs with few records continue in a stream thread, and in micro-batches again, on a broker."""

from __future__ import annotations

import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from millrace_model.reads import StatePage
from millrace_runtime import columns
from millrace_runtime.driver import stream_threads
from millrace_runtime.errors import StreamStopped
from millrace_runtime.stores.live import LiveStores, read_live
from millrace_runtime.stores.reading import StateQuery
from millrace_services import local_services

from tests.compiler.kit import Raw
from tests.runtime import topics
from tests.runtime.changing import Changing, Pair
from tests.runtime.driver.test_losses_while_running import eventually, running
from tests.runtime.driver.test_lost_offsets import Losses, pair, send, summed

__all__ = ["pair"]

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]

IN_THREAD, BACK = "Few records: processed in a stream thread", "Back to micro-batches: "


class Lines(Losses):
    """Keeps all log lines of a job."""

    def log(self, level: str, message: str, node: str | None = None) -> None:
        self.logs.append(message)

    def times(self, part: str) -> int:
        """Return how many lines have this part."""
        return sum(part in line for line in self.logs)


@pytest.fixture
def limit(changing: Changing) -> Iterator[Callable[[int, int], None]]:
    """Set the records of an epoch that are too many, and the ms between checks of topics."""
    threads: Any = columns.gateway(changing.spark.sparkContext).StreamThread
    yield threads.limit
    threads.limit(20_000, 10_000)


def results(pair: Pair, count: int) -> list[tuple[str, int]]:
    """Wait for so many results, and return them by partition."""
    found = topics.consume(pair.address, pair.sink, count, seconds=60)
    return sorted((record.key().decode(), int(record.value())) for record in found)


def once(raw: Raw, **settings: str) -> Raw:
    raw["settings"] = {"processing_guarantee": "exactly_once", **settings}
    return raw


class Looked:
    """Looks up both keys all the time, in two threads, in the stores of a job that runs."""

    def __init__(self, changing: Changing, folder: Path) -> None:
        self.changing, self.folder = changing, folder
        #: by micro-batch: values by key
        self.found: dict[int, dict[str, int]] = {}
        self._ended = threading.Event()
        self._socket = str(folder / "live" / "stores")
        self.stores = LiveStores(self._socket, changing.location(folder))

    def ask(self, **query: Any) -> Any:
        """Ask the job through its socket."""
        asked = {"do": "read_state", "store": "sum", "query": query}
        return local_services.ask(self._socket, asked, 60)

    def page(self) -> StatePage | None:
        """Return the rows of the store, from the job itself."""
        return read_live(self.changing.location(self.folder), "sum", StateQuery())

    def sums(self, page: StatePage | None) -> dict[str, int]:
        rows = [] if page is None else page["rows"]
        return {json.loads(row["key"]): int(row["value"] or 0) for row in rows}

    def until(self, wanted: dict[str, int]) -> None:
        """Wait until the job has these sums, and compare them with those in its checkpoint."""
        eventually(lambda: self.sums(self.page()) == wanted)
        # Two others look too, and only two queries run at a time.
        eventually(lambda: self.sums(self.ask(key="b")["page"]) == {"b": wanted["b"]})
        assert self.ask(newest=True) == {"page": None}
        assert self.ask(as_of=1)["error"]["code"] == "query_invalid"
        rows = self.changing.rows(self.folder, "sum")
        assert {json.loads(row["key"]): int(row["value"]) for row in rows} == wanted

    def _look(self) -> None:
        while not self._ended.wait(0.02):
            page = self.page()
            if page is not None:
                found = self.sums(page)
                assert self.found.setdefault(page["batch"], found) == found

    @contextmanager
    def always(self) -> Iterator[None]:
        """Look during the block; each batch must have one content, and sums must only grow."""
        with ThreadPoolExecutor(2) as pool:
            looking = [pool.submit(self._look) for _ in range(2)]
            try:
                yield
            finally:
                self._ended.set()
                for each in looking:
                    each.result(60)
        self.stores.close()
        with pytest.raises(OSError, match="No such file"):
            self.ask()
        found = [values for _, values in sorted(self.found.items())]
        assert len(found) > 3
        for before, after in itertools.pairwise(found):
            assert all(after[key] >= value for key, value in before.items())


def test_few_records_go_through_a_thread_and_many_through_batches(
    changing: Changing, pair: Pair, tmp_path: Path, limit: Callable[[int, int], None],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    report = Lines()
    send(pair, 1)
    looked = Looked(changing, tmp_path)
    assert looked.page() is None
    with (
        ExitStack() as longer,
        running(changing, once(summed(pair)), tmp_path, "--stores", "live", report=report) as job,
    ):
        eventually(lambda: report.times(IN_THREAD) == 1 or job.done())
        # Also while the job ends, but not while it starts, which takes long enough.
        longer.enter_context(looked.always())
        assert not changing.spark.streams.active
        send(pair, 2)
        send(pair, 5, partition=1)
        assert results(pair, 3) == [("a", 1), ("a", 3), ("b", 5)]
        looked.until({"a": 3, "b": 5})
        limit(1, 10_000)
        for n in range(3):
            send(pair, 10)
            assert results(pair, 4 + n)[-2] == ("a", 13 + 10 * n)
        eventually(lambda: report.times(f"{BACK}3 times more than 1 records at once") == 1)
        send(pair, 7, partition=1)
        assert results(pair, 7)[-1] == ("b", 12)
        looked.until({"a": 33, "b": 12})
    # The lines are in the reports, from which a deployment's log takes them, and nowhere else.
    assert not re.search("thread|micro-batches", capsys.readouterr().err)
    changing.run(once(summed(pair)), tmp_path)
    assert results(pair, 7) == [("a", n) for n in (1, 3, 13, 23, 33)] + [("b", 5), ("b", 12)]


def test_other_topic_partitions_end_a_thread(
    changing: Changing, pair: Pair, tmp_path: Path, limit: Callable[[int, int], None]
) -> None:
    limit(20_000, 100)
    report = Lines()
    send(pair, 1)
    with running(changing, summed(pair), tmp_path, report=report) as job:
        eventually(lambda: report.times(IN_THREAD) == 1 or job.done())
        topics.grow(pair.address, pair.source, 3)
        eventually(lambda: report.times(f"{BACK}other topic-partitions") == 1 or job.done())
        topics.produce(pair.address, pair.source, [{"key": "c", "value": "4", "partition": 2}])
        assert results(pair, 2) == [("a", 1), ("c", 4)]


def test_an_epoch_that_is_written_but_not_logged_is_not_written_again(
    changing: Changing, pair: Pair, tmp_path: Path
) -> None:
    report = Lines()
    send(pair, 1)
    with running(changing, once(summed(pair)), tmp_path, report=report) as job:
        eventually(lambda: report.times(IN_THREAD) == 1 or job.done())
        send(pair, 2)
        send(pair, 5, partition=1)
        assert results(pair, 3) == [("a", 1), ("a", 3), ("b", 5)]
    # As after a crash between the transaction of all tasks and Spark's log of commits.
    (commits,) = (tmp_path / "checkpoint").glob("stream*/commits")
    last = max((each for each in commits.iterdir() if each.name.isdigit()), key=_number)
    for each in commits.glob(f"*{last.name}*"):
        each.unlink()
    send(pair, 4)
    changing.run(once(summed(pair)), tmp_path)
    assert results(pair, 4) == [("a", 1), ("a", 3), ("a", 7), ("b", 5)]


def _number(path: Path) -> int:
    return int(path.name)


@pytest.mark.parametrize("guarantee", ["exactly_once", "at_least_once"])
def test_a_record_that_stops_a_thread_can_be_skipped_afterwards(
    changing: Changing, pair: Pair, tmp_path: Path, guarantee: str
) -> None:
    report = Lines()
    send(pair, 1)
    raw = once(summed(pair), processing_guarantee=guarantee)
    with running(changing, raw, tmp_path, report=report) as job:
        eventually(lambda: report.times(IN_THREAD) == 1 or job.done())
        send(pair, 2)
        assert results(pair, 2) == [("a", 1), ("a", 3)]
        time.sleep(1.5)  # at least once, results are committed every second
        topics.produce(
            pair.address,
            pair.source,
            [{"key": "a", "value": text, "partition": 0} for text in ("4", "x", "5")],
        )
        error = job.exception(timeout=60)
    assert isinstance(error, StreamStopped), error
    assert (error.node, error.code) == ("sum", "processing"), error
    assert results(pair, 3)[-1] == ("a", 7)
    skipping = once(summed(pair), processing_guarantee=guarantee, processing_handler="continue")
    changing.run(skipping, tmp_path)
    again = [] if guarantee == "exactly_once" else [("a", 7)]
    expected = sorted([("a", n) for n in (1, 3, 7, 12)] + again)
    assert results(pair, len(expected)) == expected


def test_a_query_stays_in_micro_batches_if_threads_are_switched_off(
    changing: Changing, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MILLRACE_STREAM_THREADS", "0")
    report = Lines()
    send(pair, 1)
    with running(changing, summed(pair), tmp_path, report=report):
        assert results(pair, 1) == [("a", 1)]
        (query,) = changing.spark.streams.active
        eventually(lambda: bool(columns.gateway().Pacing.calm(query._jsq)))
        time.sleep(3 * stream_threads.LOOK_SECONDS)
        assert query.isActive
    assert not report.times(IN_THREAD)
