"""Records over the edges of a running query: kept while they are viewed, decoded, and bounded."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import redis
from millrace_runtime import columns
from millrace_runtime.reports.sampling import PER_EDGE, Sampling, edge_name

REPOSITORY = Path(__file__).parents[3]
TEMPLATE = REPOSITORY / "backend/catalog/documents/purchases-per-hour.json"
DOCUMENT = json.loads(TEMPLATE.read_text(encoding="utf-8"))["document"]
FIRST = "orders.out>valid.in"


def order(item: str | None, quantity: int, ordered_at: int = 1_000, **more: Any) -> Any:
    value = {"item": item, "quantity": quantity, "ordered_at": ordered_at}
    return {"topic": "orders", "key": "customer", "value": value, "timestamp": 0, **more}


def until(done: Callable[[], Any], look: Callable[[], None] = lambda: None) -> Any:
    deadline = time.monotonic() + 60
    while not (found := done()):
        assert time.monotonic() < deadline, "waited for a minute"
        look()
        time.sleep(0.05)
    return found


class Person:
    """A viewer of a run's records, who may start and stop looking."""

    def __init__(self, client: Any, run: str, graph: Any) -> None:
        self._redis, self._key = client, f"millrace:run:{run}"
        self.sampling = Sampling(client, run)
        self.sampling.describe(DOCUMENT, graph)

    def looks(self) -> None:
        self._redis.set(f"{self._key}:watched", 1)

    def goes(self) -> None:
        self._redis.delete(f"{self._key}:watched")
        until(lambda: self.kept() is None, self.sampling.look)

    def kept(self) -> Any:
        raw = self._redis.get(f"{self._key}:records")
        return None if raw is None else json.loads(raw)

    def sees(self, edge: str, number: int) -> list[Any]:
        """Wait until the edge has this many records, and return them."""
        until(
            lambda: len((self.kept() or {"edges": {}})["edges"].get(edge, [])) == number,
            self.sampling.look,
        )
        found: list[Any] = self.kept()["edges"][edge]
        return found

    def sees_last(self, edge: str, value: Any) -> None:
        """Wait until this value is the edge's newest."""
        until(lambda: self.kept()["edges"][edge][0]["value"] == value, self.sampling.look)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.services
def test_records_are_kept_while_somebody_looks_decoded_and_bounded(redis_url: str) -> None:
    """One query throughout: without a viewer, with one, with many records, without one again."""
    from millrace_runtime.analyzer.compiling import compiled
    from millrace_runtime.simulator.simulation import Simulator

    from cli.simulating import Warm

    warm = Warm()
    client = redis.Redis.from_url(redis_url)
    graph = compiled(DOCUMENT, warm.analyzer).require_task_graph()
    simulator = Simulator(warm.spark.newSession(), graph)
    run = simulator._run
    operator = columns.gateway().Samples
    person = Person(client, run, graph)

    def batches() -> Iterator[list[tuple[int, Any]]]:
        yield [(1, order("unseen", 1))]
        person.sampling.look()
        assert person.kept() is None
        assert operator.take(run) is None

        person.looks()
        shown = until(person.kept, person.sampling.look)
        assert shown["edges"] == {}
        yield [(2, order("tea", 2, headers={"h": "ü"})), (3, order(None, 1))]
        newest, older = person.sees(FIRST, 2)
        assert newest["number"] > older["number"]
        assert older["key"] == "customer"
        assert older["value"] == {"item": "tea", "quantity": 2, "ordered_at": 1_000}
        assert (older["timestamp"], older["headers"]) == (1_000, {"h": "ü"})
        assert (older["topic"], older["partition"], older["offset"]) == ("orders", 0, 1)
        assert abs(older["seen"] - time.time() * 1000) < 120_000
        (total,) = person.sees("total.out>rows.in", 1)
        assert total["key"]["key"] == "tea"
        edges = {edge_name(edge) for edge in DOCUMENT["edges"] if edge["source"] != "totals"}
        assert set(person.kept()["edges"]) == edges

        many = [order("tea", number) for number in range(3 * PER_EDGE)]
        yield list(enumerate(many, 4))
        until(
            lambda: person.kept()["edges"][FIRST][0]["value"]["quantity"] > 2, person.sampling.look
        )
        seen = [each["value"]["quantity"] for each in person.sees(FIRST, PER_EDGE)]
        # Of a large batch the first records are kept, as many as a task may add between two looks.
        assert seen == list(range(PER_EDGE))[::-1]
        # All of them are counted, by task and by key.
        keys = person.kept()["keys"]
        (task,) = keys[FIRST]["tasks"]
        assert task == ["0_0", 2 + 3 * PER_EDGE]
        assert (keys[FIRST]["records"], keys[FIRST]["sampled"]) == (62, 62)
        assert keys[FIRST]["top"] == [['"customer"', 62]]
        assert keys[FIRST]["since"] <= time.time() * 1000
        # One of the orders has no item, one the quantity 0.
        hottest, count = keys["total.out>rows.in"]["top"][0]
        assert (json.loads(hottest)["key"], count) == ("tea", 60)

        # In a very large batch only some keys are read, and counted for the others.
        spread = [
            order("rare" if n % 10 == 9 else "hot", n, key=f"k{n % 10}") for n in range(3_000)
        ]
        yield list(enumerate(spread, 10_000))
        until(lambda: person.kept()["keys"][FIRST]["records"] == 3_062, person.sampling.look)
        read = person.kept()["keys"][FIRST]
        assert read["sampled"] < 1_200
        of_tens = {key: count for key, count in read["top"] if key != '"customer"'}
        assert len(of_tens) == 10
        assert 2_000 < sum(of_tens.values()) < 4_000
        assert all(100 < count < 700 for count in of_tens.values())

        yield [(200, order("é" * 5_000, 3))]
        cut = until(
            lambda: next((r for r in person.kept()["edges"][FIRST] if "value_cut" in r), None),
            person.sampling.look,
        )
        assert len(cut["value"]) == 2_000
        assert cut["value"].startswith('{"item":"ééé')
        large = [order("x" * 1_900, number) for number in range(2 * PER_EDGE)]
        for start in range(0, len(large), 5):
            yield list(enumerate(large[start : start + 5], 300 + start))
            person.sees_last(FIRST, large[start : start + 5][-1]["value"])
        size = len(json.dumps(person.kept()["edges"][FIRST]))
        assert size < 50_000

        person.goes()
        assert operator.take(run) is None
        yield [(900, order("unseen", 1))]
        assert operator.take(run) is None

        # A run that was no longer watched starts afresh.
        person.looks()
        assert until(person.kept, person.sampling.look)["edges"] == {}

    simulator.run_batches(batches())
    operator.unwatch(run)
    client.close()
    warm.close()


def test_no_look_is_taken_before_the_job_is_described() -> None:
    class Away:
        asked = 0

        def exists(self, key: str) -> bool:
            self.asked += 1
            raise redis.ConnectionError(key)

    away = Away()
    sampling = Sampling(away, "1-1")
    sampling.look()
    assert away.asked == 0
    sampling.describe(DOCUMENT, cast(Any, {"nodes": []}))
    with pytest.raises(redis.ConnectionError):
        sampling.look()
    sampling.look()  # not retried at once
    assert away.asked == 1
