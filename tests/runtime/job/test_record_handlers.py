"""A record that stops a job is skipped once or becomes a dead letter; the rest is exact."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from millrace_runtime import (
    DeadLetter,
    FailedRecord,
    RecordError,
    Response,
    Topology,
    json,
    string,
)
from millrace_runtime.driver.main import parser
from millrace_runtime.errors import MillraceError
from millrace_runtime.job.explaining import explain
from millrace_runtime.job.record_handlers import RecordHandler, handlers_of

from tests.runtime import topics
from tests.runtime.figures import Figures, Run

BROKER = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.slow]
LINES = [
    {"key": str(n), "value": f"w{n} v{n}", "timestamp": n, "partition": n % 2} for n in range(60)
]
BAD = 41


def words(source: str, target: str, **settings: Any) -> Topology:
    """Words by key over two levels; `bad` fails after the repartition, among its siblings."""
    settings = {"processing_guarantee": "exactly_once", **settings}
    topology = Topology("words", partitions={source: 2}, **settings)
    lines = topology.stream(source, key=string(), value=string(), name="lines")
    parted = lines.flat_map_values("split(value, ' ')").select_key("value").repartition()
    checked = parted.map_values(
        "if(1 / length(replace(value, 'bad', '')) > 0, value, '')", name="check"
    )
    checked.to(target, key=string(), value=string())
    return topology


def failure(run: Run, *handlers: RecordHandler) -> dict[str, Any]:
    """The failure with which a run ends."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever Spark raises
        run.read_all(record_handlers=handlers)
    return dict(explain(caught.value).as_dict())


def decided(record: dict[str, Any], handler: Any) -> RecordHandler:
    return RecordHandler(record["topic"], record["partition"], record["offset"], handler)


def read(figures: Figures, topic: str, count: int) -> Counter[str]:
    return Counter(each.value().decode() for each in topics.consume(figures.address, topic, count))


@pytest.mark.parametrize("handler", ["continue", "dead_letter"])
class TestOnABroker:
    """With transactions: what was written before the failure is not written again."""

    pytestmark = BROKER

    def test_the_rest_of_the_batch_comes_out_exactly_once(
        self, figures: Figures, handler: str
    ) -> None:
        source, target, dead = figures.topic(2), figures.topic(), figures.topic()
        lines = [dict(line) for line in LINES]
        lines[BAD]["value"] = f"w{BAD} bad v{BAD}"
        lines[BAD + 4]["value"] = f"w{BAD + 4} bad v{BAD + 4}"
        topics.produce(figures.address, source, lines)
        run = figures.job(words(source, target, dead_letter_topic=dead))
        wanted = Counter(word for line in LINES for word in str(line["value"]).split())

        first = failure(run)
        assert (first["code"], first["node"]) == ("processing", "check")
        assert (first["record"]["topic"], first["record"]["offset"]) == (source, BAD // 2)
        other = decided({**first["record"], "offset": 0}, handler)
        assert failure(run, other)["record"] == first["record"], "another record was decided about"
        before = read(figures, target, 1)
        assert before <= wanted, "what precedes the record is written, once"
        once = decided(first["record"], handler)
        second = failure(run, once)
        assert second["record"]["offset"] == (BAD + 4) // 2, "the decision is about one record"
        event = run.read_all(record_handlers=[once, decided(second["record"], handler)])
        assert read(figures, target, len(wanted)) == wanted
        check = event["nodes"]["check"]
        if handler == "continue":
            assert check["dropped"] == {"skipped_once": 2}
        else:
            assert check["dead_letters"] == 2
        letters = topics.consume(figures.address, dead, 2 * (handler == "dead_letter"))
        wrong = [b"bad"] * 2 if handler == "dead_letter" else []
        assert [each.value() for each in letters] == wrong
        run.close()

    def test_bytes_and_times_that_cannot_be_read_are_decided_about_as_well(
        self, figures: Figures, handler: str
    ) -> None:
        source, target, dead = figures.topic(), figures.topic(), figures.topic()
        values = ['{"n": 1, "at": 5}', "{", '{"n": 2, "at": -7}', '{"n": 3, "at": 9}']
        topics.produce(figures.address, source, [{"key": "a", "value": each} for each in values])
        topology = Topology("numbers", dead_letter_topic=dead, processing_guarantee="exactly_once")
        numbers = topology.stream(
            source, key=string(), value=json("n INT, at BIGINT"), timestamp="value.at", name="in"
        )
        numbers.map_values("CAST(value.n AS STRING)").to(target, key=string(), value=string())
        run = figures.job(topology)
        found = [failure(run)]
        handlers = [decided(found[0]["record"], handler)]
        found.append(failure(run, *handlers))
        handlers.append(decided(found[1]["record"], handler))
        run.read_all(record_handlers=handlers)
        assert [each["code"] for each in found] == ["deserialization", "timestamp"]
        assert read(figures, target, 2) == Counter(["1", "3"])
        letters = topics.consume(figures.address, dead, 2 * (handler == "dead_letter"))
        raw = [each.value().decode() for each in letters]
        assert raw == (values[1:3] if handler == "dead_letter" else [])
        run.close()


class TestADeadLetterBeforeAFailure:
    """Kafka Streams aborts it with the transaction, if there is one."""

    pytestmark = BROKER

    @pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once"])
    def test_it_is_written_at_least_once_and_the_job_stops(
        self, figures: Figures, guarantee: str
    ) -> None:
        source, target, dead = figures.topic(2), figures.topic(), figures.topic()
        lines = [{"key": "a", "value": each, "timestamp": 1} for each in ("w", "v bad", "u")]
        topics.produce(figures.address, source, [{**each, "partition": 0} for each in lines])
        handler = "dead_letter_then_fail"
        run = figures.job(
            words(source, target, dead_letter_topic=dead, processing_handler=handler,
                  processing_guarantee=guarantee)
        )  # fmt: skip
        letters = [b"bad"] * (guarantee == "at_least_once")
        record = failure(run)["record"]
        assert record["offset"] == 1
        found = topics.consume(figures.address, dead, len(letters))
        assert [each.value() for each in found] == letters
        run.read_all(record_handlers=[decided(record, "continue")])
        assert set(read(figures, target, 3)) == {"w", "v", "u"}
        assert topics.size(figures.address, dead) == len(letters)
        run.close()


def unsendable(record: FailedRecord, error: RecordError) -> Response:
    if b"stop" in (record.key or b""):
        return Response.fail(DeadLetter(record.key, error.message))
    return Response.resume(DeadLetter(record.key, error.message.replace(str(record.topic), "in")))


class TestResultsThatCannotBeSent:
    """A function decides about them: those of a task, and those that the producer refuses."""

    pytestmark = BROKER

    @pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once"])
    def test_a_function_answers_and_stops(self, figures: Figures, guarantee: Any) -> None:
        source, target, dead = figures.topic(), figures.topic(), figures.topic()
        lines = [(target, "w"), ("a b", "x"), (target, "large"), (target, "z"), ("stop now", "u"),
                 (target, "v")]  # fmt: skip
        topics.produce(figures.address, source, [{"key": k, "value": v} for k, v in lines])
        topology = Topology("results", dead_letter_topic=dead, production_handler=unsendable,
                            processing_guarantee=guarantee)  # fmt: skip
        values = topology.stream(source, key=string(), value=string())
        values.map_values("if(value = 'large', repeat('l', 1048576), value)").to(
            topic_expression="key", name="out"
        )
        run = figures.job(topology)
        stopped = failure(run)
        assert (stopped["code"], stopped["node"]) == ("production", "out")
        assert stopped["record"]["offset"] == 4
        assert read(figures, target, 2) == Counter("wz")
        count = 2 if guarantee == "exactly_once" else 3
        found = [each.value().decode() for each in topics.consume(figures.address, dead, count)]
        name = "`{}` is not a valid topic name: use at most 249 letters, digits, `.`, `_` and `-`"
        size = f"a record for the topic {target} has 1048708 bytes; max.request.size allows 1048576"
        assert found == [name.format("a b"), size, name.format("stop now")][:count]
        run.read_all(record_handlers=[decided(stopped["record"], "continue")])
        assert set(read(figures, target, 3)) == set("wzv")
        run.close()


def test_the_options_of_a_job_name_records() -> None:
    given = ["--checkpoint", "c", "--skip-record", "orders:2:17", "--dead-letter-record", "a.b:0:0"]
    assert handlers_of(parser("x").parse_args(given)) == [
        RecordHandler("orders", 2, 17, "continue"),
        RecordHandler("a.b", 0, 0, "dead_letter"),
    ]


@pytest.mark.parametrize("text", ["orders", "orders:1", "orders:one:2", ":0:0", "orders:0:-1"])
def test_what_names_no_record_is_refused(text: str) -> None:
    arguments = parser("x").parse_args(["--checkpoint", "c", f"--skip-record={text}"])
    with pytest.raises(MillraceError) as caught:
        handlers_of(arguments)
    assert caught.value.code == "option_invalid"
