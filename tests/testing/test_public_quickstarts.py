"""loicgreffier/spring-boot-kafka-quickstarts as programs, judged by the applications' own tests.

From the repository come facts only: topics, what the applications compute, and the records of their
tests. Avro of the applications is JSON here, except where a record that Avro refuses is the point.
docs/applications.md has their lines.
Not written: the rate of dropped records per second, which the applications read from Kafka's
metrics; their totals are here. `print` and `foreach`, which have no results.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from millrace_runtime import (
    WALL_CLOCK_TIME,
    FailedRecord,
    Processor,
    ProcessorContext,
    Record,
    RecordError,
    Response,
    Topology,
    avro,
    json,
    key_value_store,
    long,
    string,
    tumbling,
    window_store,
)
from millrace_runtime.testing import TopologyTestDriver

pytestmark = [pytest.mark.spark, pytest.mark.slow]

Create = Callable[..., TopologyTestDriver]
USER = "id BIGINT, firstName STRING, lastName STRING, nationality STRING, birthDate TIMESTAMP"
STRUCT = f"STRUCT<{USER.replace(' ', ': ').replace(',: ', ', ')}>"


def ms(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


BIRTH = ms("2000-01-01T01:00")


def user(
    first: str, last: str = "Simpson", nationality: str | None = "US", birth: int = BIRTH
) -> dict[str, Any]:
    names = {"id": 1, "firstName": first, "lastName": last}
    return {**names, "nationality": nationality, "birthDate": birth}


def born(value: Any) -> Any:
    if value["birthDate"] < 0:
        raise ValueError("Age must be positive")
    return value


class Checks(Processor):
    def init(self, context: ProcessorContext[Any, Any]) -> None:
        self.context = context
        context.schedule("1 minute", WALL_CLOCK_TIME, self.punctuate)

    def punctuate(self, now: int) -> None:
        raise ValueError("Forced processing exception during punctuation")

    def process(self, record: Record[Any, Any]) -> None:
        self.context.forward(record.replace(value=born(record.value)))


def resume_what_is_illegal(record: FailedRecord, error: RecordError) -> Response:
    print(f"caught in {error.node}: {record.topic} {record.partition} {record.offset}")
    return Response.resume() if error.exception == "ValueError" else Response.fail()


def resume(record: FailedRecord, error: RecordError) -> Response:
    return Response.resume()


class TestExceptionHandlers:
    def users(self, **settings: Any) -> tuple[Topology, Any]:
        topology = Topology("users", **settings)
        return topology, topology.stream("USER_TOPIC", key=string(), value=json(USER), name="users")

    def run(self, driver: TopologyTestDriver) -> list[str]:
        """Homer is born before 1970, Bart after; return who comes out."""
        users = driver.input_topic("USER_TOPIC")
        users.pipe_input("1", user("Homer", birth=ms("1949-01-01T01:00")))
        users.pipe_input("2", user("Bart", birth=ms("1980-01-01T01:00")))
        return [value["firstName"] for value in driver.output_topic("out").read_values()]

    def test_deserialization(self, topology_test_driver: Create) -> None:
        topology, users = self.users(deserialization_handler=resume)
        users.to("out")
        driver = topology_test_driver(topology)
        for number, first in enumerate(("Homer", None, "Marge", None, "Bart"), 1):
            format = string() if first is None else None
            value = user(first) if first else "invalid"
            driver.input_topic("USER_TOPIC", value=format).pipe_input(str(number), value)
        found = [(k, v["firstName"]) for k, v in driver.output_topic("out").read_key_values()]
        assert found == [("1", "Homer"), ("3", "Marge"), ("5", "Bart")]
        assert [each.reason for each in driver.drops] == ["deserialization"] * 2

    def test_processing_in_the_dsl(self, topology_test_driver: Create) -> None:
        topology, users = self.users(processing_handler=resume_what_is_illegal)
        users.map_values(born, returns=STRUCT).to("out")
        driver = topology_test_driver(topology)
        assert self.run(driver) == ["Bart"]
        assert len(driver.drops) == 1

    def test_processing_in_the_processor_api(self, topology_test_driver: Create) -> None:
        topology, users = self.users(processing_handler=resume_what_is_illegal)
        users.process_values(Checks).to("out")
        driver = topology_test_driver(topology)
        assert self.run(driver) == ["Bart"]
        driver.advance_wall_clock_time(120_000)
        assert len(driver.drops) == 2  # the record, and one call of the punctuation

    def test_dead_letter_queue(self, topology_test_driver: Create) -> None:
        topology, users = self.users(
            processing_handler="dead_letter", dead_letter_topic="DLQ_TOPIC"
        )
        users.map_values(born, returns=STRUCT).to("out")
        driver = topology_test_driver(topology)
        assert self.run(driver) == ["Bart"]
        assert len(driver.drops) == 1
        [letter] = driver.output_topic("DLQ_TOPIC", value=json(USER)).read_values()
        assert letter == user("Homer", birth=ms("1949-01-01T01:00"))

    def test_production(self, topology_test_driver: Create) -> None:
        topology, users = self.users(production_handler=resume)
        fields = '[{"name": "firstName", "type": "string"}]'
        record = f'{{"type": "record", "name": "User", "fields": {fields}}}'
        users.map_values("named_struct('firstName', value.nationality)").to(
            "out", value=avro(record)
        )
        driver = topology_test_driver(topology)
        driver.input_topic("USER_TOPIC").pipe_input("10", user("Homer", nationality=None))
        assert driver.output_topic("out").is_empty()
        assert [each.reason for each in driver.drops] == ["production"]


class TestAggregates:
    def test_tumbling_windows(self, topology_test_driver: Create) -> None:
        topology = Topology("tumbling")
        users = topology.stream("USER_TOPIC", key=string(), value=json(USER))
        grouped = users.select_key("value.lastName").group_by_key(repartition="by-last-name")
        windowed = grouped.windowed_by(tumbling("5 minutes", grace="1 minute"))
        windowed.aggregate(
            "ARRAY<STRING>", initializer="array()", aggregator="array_append(agg, value.firstName)",
            store=window_store("users"),
        ).to_stream().select_key(
            "concat(key.key, '@', date_format(key.window.start, 'mm:ss'), '->', "
            "date_format(key.window.end, 'mm:ss'))"
        ).to("out")  # fmt: skip
        driver = topology_test_driver(topology)
        piped = driver.input_topic("USER_TOPIC")
        for number, (first, at) in enumerate((("Homer", "01:00"), ("Marge", "01:05:30"),
                                              ("Bart", "01:03")), 1):  # fmt: skip
            piped.pipe_input(str(number), user(first), ms(f"2000-01-01T{at}"))
        assert driver.output_topic("out").read_key_values() == [
            ("Simpson@00:00->05:00", ["Homer"]),
            ("Simpson@05:00->10:00", ["Marge"]),
            ("Simpson@00:00->05:00", ["Homer", "Bart"]),
        ]

    def test_cogroup(self, topology_test_driver: Create) -> None:
        topology = Topology("cogroup")
        groups = [
            topology.stream(topic, key=string(), value=json(USER)).group_by("value.lastName")
            for topic in ("USER_TOPIC", "USER_TOPIC_TWO")
        ]
        append = "array_append(agg, value.firstName)"
        both = groups[0].cogroup(append).cogroup(groups[1], append)
        both.aggregate("ARRAY<STRING>", initializer="array()", store=key_value_store("users")
                       ).to_stream().to("out")  # fmt: skip
        driver = topology_test_driver(topology)
        for topic, first in (("", "Homer"), ("", "Marge"), ("_TWO", "Bart")):
            driver.input_topic(f"USER_TOPIC{topic}").pipe_input("1", user(first), BIRTH)
        expected = [["Homer"], ["Homer", "Marge"], ["Homer", "Marge", "Bart"]]
        found = driver.output_topic("out").read_key_values()
        assert found == [("Simpson", each) for each in expected]
        assert driver.store("users").get("Simpson") == expected[-1]

    def test_reduce(self, topology_test_driver: Create) -> None:
        topology = Topology("oldest")
        users = topology.stream("USER_TOPIC", key=string(), value=json(USER))
        grouped = users.group_by("value.nationality", repartition="by-nationality")
        oldest = grouped.reduce(
            "if(agg.birthDate < value.birthDate, agg, value)", store=key_value_store("oldest")
        )
        oldest.to_stream().to("out")
        driver = topology_test_driver(topology)
        people = [("Homer", "US", 1956), ("Bart", "US", 1994), ("Milhouse", "BE", 1996),
                  ("Kirk", "BE", 1976)]  # fmt: skip
        for first, nationality, year in people:
            birth = ms(f"{year}-02-02T04:58")
            driver.input_topic("USER_TOPIC").pipe_input("1", user(first, "S", nationality, birth))
        found = driver.output_topic("out").read_key_values()
        assert [(key, value["firstName"]) for key, value in found] == [
            ("US", "Homer"), ("US", "Homer"), ("BE", "Milhouse"), ("BE", "Kirk")
        ]  # fmt: skip
        assert driver.store("oldest").get("BE")["firstName"] == "Kirk"


class Reconciles(Processor):
    """Joins a customer with an order, whichever comes first."""

    def init(self, context: ProcessorContext[Any, Any]) -> None:
        self.context = context
        self.store = context.store("reconciliation")

    def process(self, record: Record[Any, Any]) -> None:
        self.put(record.key, customer=record.value)

    def on_order(self, record: Record[Any, Any]) -> None:
        self.put(record.key, order=record.value)

    def put(self, key: Any, **side: Any) -> None:
        found = {"customer": None, "order": None, **(self.store.get(key) or {}), **side}
        self.store.put(key, found)
        if found["customer"] is not None and found["order"] is not None:
            self.store.delete(key)
            self.context.forward(Record(key, found, self.context.current_system_time()))


class CountsNationalities(Processor):
    def init(self, context: ProcessorContext[Any, Any]) -> None:
        self.context = context
        self.counts = context.store("counts")
        context.schedule("2 minutes", WALL_CLOCK_TIME, self.reset)
        context.schedule("1 minute", "STREAM_TIME", self.forward)

    def process(self, record: Record[Any, Any]) -> None:
        key = record.value["nationality"]
        self.counts.put(key, (self.counts.get(key) or 0) + 1)

    def reset(self, now: int) -> None:
        for key, _ in list(self.counts.all()):
            self.counts.put(key, 0)

    def forward(self, now: int) -> None:
        for key, count in self.counts.all():
            self.context.forward(Record(key, count, now))


class CleansUp(Processor):
    def init(self, context: ProcessorContext[Any, Any]) -> None:
        self.context = context
        self.users = context.store("users")
        context.schedule("1 minute", "STREAM_TIME", self.forward_tombstones)

    def process(self, record: Record[Any, Any]) -> None:
        if record.value is None:
            self.users.delete(record.key)
        else:
            self.users.put(record.key, record.value)

    def forward_tombstones(self, now: int) -> None:
        for key, _ in self.users.all():
            self.context.forward(Record(key, None, now))


class TestProcessors:
    def test_reconciliation(self, topology_test_driver: Create) -> None:
        topology = Topology("reconciliation")
        order = "id BIGINT, totalAmount DOUBLE, customerId BIGINT"
        both = f"STRUCT<customer: {STRUCT}, order: STRUCT<{order}>>"
        store = key_value_store("reconciliation", key_type="STRING", value_type=both)
        users = topology.stream("USER_TOPIC", key=string(), value=json(USER))
        orders = topology.stream("ORDER_TOPIC", key=string(), value=json(order))
        orders = orders.select_key("string(value.customerId)").repartition(topic="ORDER_TOPIC")
        users.process(
            Reconciles, stores=[store], also={"on_order": [orders]}, value_type=both
        ).to("out")  # fmt: skip
        driver = topology_test_driver(topology)
        bought = {"id": 1, "totalAmount": 10.99, "customerId": 1}
        driver.input_topic("USER_TOPIC").pipe_input("1", user("Homer"))
        driver.input_topic("ORDER_TOPIC").pipe_input("1", bought)
        [found] = driver.output_topic("out").read_key_values()
        assert found == ("1", {"customer": user("Homer"), "order": bought})

    def test_schedules(self, topology_test_driver: Create) -> None:
        topology = Topology("schedule")
        store = key_value_store("counts", key_type="STRING", value_type="BIGINT")
        users = topology.stream("USER_TOPIC", key=string(), value=json(USER))
        users.process(CountsNationalities, stores=[store], value_type="BIGINT").to(
            "out", value=long()
        )
        driver = topology_test_driver(topology, initial_wall_clock_time=BIRTH)
        piped = driver.input_topic("USER_TOPIC")
        for at, nationality in (
            ("01:00", "US"),
            ("01:01", "US"),
            ("01:01:30", "BE"),
            ("01:02", "IT"),
        ):
            piped.pipe_input("1", user("A", nationality=nationality), ms(f"2000-01-01T{at}"))
        driver.advance_wall_clock_time(120_000)
        piped.pipe_input("5", user("Bart"), ms("2000-01-01T01:04"))
        found = driver.output_topic("out").read_key_values()
        # A store is in the order of its keys; the application's own test reads it by counts.
        assert sorted(found) == sorted(
            [("US", 1), ("US", 2), ("BE", 1), ("IT", 1), ("US", 2), ("BE", 0), ("IT", 0), ("US", 1)]
        )
        assert dict(driver.store("counts").all()) == {"BE": 0, "IT": 0, "US": 1}

    def test_a_store_is_cleaned_up_by_the_topic_that_fills_it(
        self, topology_test_driver: Create
    ) -> None:
        topology = Topology("cleanup")
        store = key_value_store("users", key_type="STRING", value_type=STRUCT)
        users = topology.stream("USER_TOPIC", key=string(), value=json(USER))
        users.process(CleansUp, stores=[store]).to("USER_TOPIC")
        driver = topology_test_driver(topology)
        piped, rows = driver.input_topic("USER_TOPIC"), driver.store("users")
        for key, at in (("1", "01:00"), ("2", "01:00:20"), ("3", "01:00:40")):
            piped.pipe_input(key, user("A"), ms(f"2000-01-01T{at}"))
        assert [key for key, _ in rows.all()] == ["2", "3"]
        for key, at in (("4", "01:02"), ("5", "01:02:30")):
            piped.pipe_input(key, user("A"), ms(f"2000-01-01T{at}"))
        assert [key for key, _ in rows.all()] == ["5"]

    def test_a_global_table_without_a_row(self, topology_test_driver: Create) -> None:
        topology = Topology("countries")
        countries = topology.global_table(
            "COUNTRY_TOPIC", key=string(), value=json("name STRING"), store=key_value_store("c")
        )
        users = topology.stream("USER_TOPIC", key=string(), value=json(USER))
        joined = users.left_join(
            countries, key="value.nationality",
            joiner=lambda user, country: {"user": user["firstName"], "country": country},
        )  # fmt: skip
        joined.to("out")
        driver = topology_test_driver(topology)
        driver.input_topic("USER_TOPIC").pipe_input("1", user("Homer"))
        driver.input_topic("COUNTRY_TOPIC").pipe_input("US", {"name": "United States"})
        driver.input_topic("USER_TOPIC").pipe_input("1", user("Homer"))
        found = [value["country"] for value in driver.output_topic("out").read_values()]
        assert found == [None, {"name": "United States"}]
