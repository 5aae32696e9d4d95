"""Public Kafka Streams applications as programs, judged by the applications' own tests.

Each class names a repository on GitHub. From it come facts only: topics, what the application
computes, and the records of its tests. Avro and Protobuf of the applications are JSON here.
docs/applications.md has the lines of applications and programs (applications.py).

Not written: left and outer joins of streams by `JoinWindows.of` in the Kotlin examples. Before
Kafka 4.0, which removed it, they sent a result without a match at once, and again with one.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from millrace_runtime import (
    Topology,
    hopping,
    integer,
    json,
    key_value_store,
    long,
    sessions,
    string,
    tumbling,
    until_window_closes,
    window_store,
    within,
)
from millrace_runtime.testing import TopologyTestDriver

from tests.testing.piping import Create, pipe, read

pytestmark = [pytest.mark.spark, pytest.mark.slow]

MINUTE = 60_000
EVENING = int(datetime(2020, 1, 1, 20, tzinfo=UTC).timestamp() * 1000)


class TestKatas:
    """joannavarrete/kafka-streams-katas: six topologies over transactions."""

    schema = (
        "accountId INT, transactionCode STRING, symbol STRING, price DECIMAL(20, 2), "
        "total DECIMAL(20, 2)"
    )

    def transactions(self) -> tuple[Topology, Any]:
        topology = Topology("katas")
        return topology, topology.stream("transactions", key=integer(), value=json(self.schema))

    def test_count(self, topology_test_driver: Create) -> None:
        topology, stream = self.transactions()
        stream.group_by_key().count().to_stream().to("count_by_accountId", value=long())
        driver = topology_test_driver(topology)
        pipe(driver, "transactions", [(n, {"accountId": n}) for n in (1, 1, 1, 2)])
        assert dict(read(driver, "count_by_accountId")) == {1: 3, 2: 1}

    def test_net_profit(self, topology_test_driver: Create) -> None:
        topology, stream = self.transactions()
        signed = "IF(value.transactionCode = 'sell', value.total, -value.total)"
        sums = (
            stream.map_values(signed).group_by_key().reduce("CAST(agg + value AS DECIMAL(20, 2))")
        )
        sums.to_stream().to("net_profit_by_account")
        driver = topology_test_driver(topology)
        codes = [(3334, "sell"), (3334, "sell"), (3334, "sell"), (3334, "buy"), (444, "sell")]
        records = [(key, {"transactionCode": code, "total": 50}) for key, code in codes]
        pipe(driver, "transactions", [*records, (444, {"transactionCode": "buy", "total": 50})])
        found = dict(read(driver, "net_profit_by_account"))
        assert {key: int(value) for key, value in found.items()} == {3334: 100, 444: 0}

    def test_sum_of_sells(self, topology_test_driver: Create) -> None:
        topology, stream = self.transactions()
        sold = stream.filter(lambda key, value: value["transactionCode"] == "sell")
        sums = sold.map_values("value.total").group_by_key()
        sums.reduce("CAST(agg + value AS DECIMAL(20, 2))").to_stream().to("total_sold_by_account")
        driver = topology_test_driver(topology)
        pipe(driver, "transactions", [(3334, {"transactionCode": "buy", "total": 50})])
        assert driver.output_topic("total_sold_by_account").is_empty()
        keys = [3334, 3334, 3334, 444]
        pipe(driver, "transactions", [(k, {"transactionCode": "sell", "total": 50}) for k in keys])
        found = dict(read(driver, "total_sold_by_account"))
        assert {key: int(value) for key, value in found.items()} == {3334: 150, 444: 50}

    def test_average_of_a_symbol(self, topology_test_driver: Create) -> None:
        topology, stream = self.transactions()
        grouped = stream.map(key="value.symbol", value="double(value.price)").group_by_key()
        averages = grouped.aggregate(
            "STRUCT<n: BIGINT, sum: DOUBLE>",
            initializer="named_struct('n', 0L, 'sum', 0D)",
            aggregator="named_struct('n', agg.n + 1, 'sum', agg.sum + value)",
        ).map_values("value.sum / value.n")
        averages.to_stream().to("symbol_average")
        driver = topology_test_driver(topology)
        prices = [("ebay", 50), ("ebay", 150), ("ebay", 250), ("google", 50)]
        pipe(driver, "transactions", [(3334, {"symbol": s, "price": p}) for s, p in prices])
        assert dict(read(driver, "symbol_average")) == {"ebay": 150.0, "google": 50.0}

    def test_branches(self, topology_test_driver: Create) -> None:
        topology, stream = self.transactions()
        codes = {f"{code}s": f"value.transactionCode = '{code}'" for code in ("buy", "sell")}
        for topic, branch in stream.split(codes).items():
            branch.to(topic)
        driver = topology_test_driver(topology)
        for code, topic, other in (("buy", "buys", "sells"), ("sell", "sells", "buys")):
            pipe(driver, "transactions", [(1, {"transactionCode": code})])
            assert len(read(driver, topic)) == 1
            assert read(driver, other) == []

    def test_filter(self, topology_test_driver: Create) -> None:
        topology, stream = self.transactions()
        stream.filter(lambda key, value: value["accountId"] == 443178).to("simple_filter")
        driver = topology_test_driver(topology)
        pipe(driver, "transactions", [(n, {"accountId": n}) for n in (3334, 443178)])
        assert [key for key, _ in read(driver, "simple_filter")] == [443178]


class TestFluent:
    """bakdata/fluent-kafka-streams-tests: the applications that its own tests run."""

    def errors(self) -> Topology:
        topology = Topology("errors-per-minute")
        clicks = topology.stream(
            "user-click-input", key=integer(), value=json("userId INT, status INT")
        )
        codes = topology.table(
            "status-input", key=integer(), value=json("code INT, definition STRING")
        )
        failed = clicks.select_key(lambda key, value: value["status"])
        failed = failed.filter(lambda key, value: key >= 400)
        minutes = failed.group_by_key().windowed_by(tumbling("1 minute", grace="0 seconds"))
        counted = (
            minutes.count()
            .to_stream()
            .map(
                key="key.key", value="named_struct('n', value, 'at', unix_millis(key.window.start))"
            )
        )
        joined = counted.join(
            codes,
            joiner="named_struct('statusCode', key, 'count', left.n, 'time', left.at, "
            "'definition', right.definition)",
        )
        joined.to("user-error-output")
        joined.filter(lambda key, value: value["count"] > 5).to("error-alert-output")
        return topology

    definitions = {500: "Internal Server Error", 403: "Access Forbidden", 502: "Bad Gateway"}

    def error(self, code: int, count: int, time: int) -> tuple[int, dict[str, Any]]:
        defined = self.definitions[code]
        return code, {"statusCode": code, "count": count, "time": time, "definition": defined}

    def click(self, driver: TopologyTestDriver, at: int, *clicks: tuple[int, int]) -> None:
        records = [(user, {"userId": user, "status": code}, at) for user, code in clicks]
        pipe(driver, "user-click-input", records)

    def test_errors_per_minute(self, topology_test_driver: Create) -> None:
        driver = topology_test_driver(self.errors())
        codes = [(c, {"code": c, "definition": text}, 0) for c, text in self.definitions.items()]
        pipe(driver, "status-input", codes)
        first, second, third = MINUTE, 2 * MINUTE, 3 * MINUTE
        self.click(driver, first, (1, 200), (2, 502), (1, 500))
        self.click(driver, first + 10, (1, 502), (1, 200), (1, 502))
        self.click(driver, first + 30, (3, 403), (2, 403))
        self.click(
            driver, second, (3, 403), (3, 403), (3, 200), (2, 403), (3, 502), (2, 403), (2, 500)
        )
        self.click(driver, third, (3, 200), (1, 403), (2, 502), (1, 403), (1, 500), (1, 500))
        assert read(driver, "user-error-output") == [
            self.error(*each)
            for each in (
                (502, 1, first), (500, 1, first), (502, 2, first), (502, 3, first),
                (403, 1, first), (403, 2, first), (403, 1, second), (403, 2, second),
                (403, 3, second), (502, 1, second), (403, 4, second), (500, 1, second),
                (403, 1, third), (502, 1, third), (403, 2, third), (500, 1, third),
                (500, 2, third),
            )
        ]  # fmt: skip
        assert read(driver, "error-alert-output") == []

    def test_an_alert_on_six_errors(self, topology_test_driver: Create) -> None:
        driver = topology_test_driver(self.errors())
        pipe(driver, "status-input", [(500, {"code": 500, "definition": self.definitions[500]}, 0)])
        self.click(driver, MINUTE, (1, 500), (1, 500), (1, 200), *[(1, 500)] * 4)
        assert read(driver, "user-error-output")[-1] == self.error(500, 6, MINUTE)
        assert read(driver, "error-alert-output") == [self.error(500, 6, MINUTE)]

    def test_clicks_per_minute(self, topology_test_driver: Create) -> None:
        topology = Topology("user-clicks-per-minute")
        clicks = topology.stream("user-click-input", key=integer(), value=json("userId INT"))
        minutes = clicks.group_by_key().windowed_by(tumbling("1 minute", grace="0 seconds"))
        minutes.count().to_stream().map(
            key="key.key",
            value="named_struct('userId', key.key, 'count', value, "
            "'time', unix_millis(key.window.start))",
        ).to("user-click-output")
        driver = topology_test_driver(topology)
        at = [(1, MINUTE), (2, MINUTE + 10), (1, MINUTE + 20), (2, 2 * MINUTE),
              (1, 2 * MINUTE + 10), (2, 2 * MINUTE + 20)]  # fmt: skip
        pipe(driver, "user-click-input", [(user, {"userId": user}, time) for user, time in at])
        assert read(driver, "user-click-output") == [
            (user, {"userId": user, "count": count, "time": time * MINUTE})
            for user, count, time in (
                (1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 1, 2), (1, 1, 2), (2, 2, 2)
            )
        ]  # fmt: skip

    def test_join_by_a_foreign_key(self, topology_test_driver: Create) -> None:
        topology = Topology("foreignKeyJoin")
        left, right = (
            topology.table(f"{side}-input", key=string(), value=string())
            for side in ("left", "right")
        )
        joined = left.join(right, foreign_key="value", joiner=lambda left, right: left + right)
        joined.to_stream().to("join-output")
        driver = topology_test_driver(topology)
        pipe(driver, "left-input", [("foo", "bar")])
        pipe(driver, "right-input", [("bar", "baz")])
        assert read(driver, "join-output") == [("foo", "barbaz")]

    @pytest.mark.parametrize("upper", [False, True])
    def test_names_from_a_global_table(self, topology_test_driver: Create, upper: bool) -> None:
        topology = Topology("globalKTableJoin")
        ids = topology.stream("id-input", key=long(), value=long())
        names = "name-input"
        if upper:
            stream = topology.stream(names, key=long(), value=string())
            names = "upper-case-input"
            stream.map_values(lambda value: value.upper()).to(names)
        table = topology.global_table(names, key=long(), value=string())
        ids.join(table, key="value", joiner="right").to("join-output")
        driver = topology_test_driver(topology)
        pipe(driver, "name-input", [(1, "Robinson"), (2, "Walker")])
        pipe(driver, "id-input", [(1, 1), (2, 2)])
        expected = [(1, "Robinson"), (2, "Walker")]
        if upper:
            expected = [(key, name.upper()) for key, name in expected]
        assert read(driver, "join-output") == expected

    def test_headers_are_kept(self, topology_test_driver: Create) -> None:
        topology = Topology("mirror")
        topology.stream("input", key=string(), value=string()).to("output")
        driver = topology_test_driver(topology)
        headers = [[("header1", b"\0")], [("header1", b"\1"), ("header2", b"\2\3")]]
        for number, each in enumerate(headers):
            driver.input_topic("input").pipe(f"key{number + 1}", f"value{number + 1}", number, each)
        records = driver.output_topic("output").read_records()
        assert [(each.key, each.value, each.timestamp) for each in records] == [
            ("key1", "value1", 0), ("key2", "value2", 1)
        ]  # fmt: skip
        assert [list(each.headers) for each in records] == headers

    def test_topics_by_pattern(self, topology_test_driver: Create) -> None:
        topology = Topology("mirror-pattern")
        stream = topology.stream(pattern=".*-input[12]", key=string(), value=string())
        stream.to("output")
        driver = topology_test_driver(topology)
        topics = ("example-input1", "example-input1", "another-input1", "example-input2")
        for number, topic in enumerate(topics, 1):
            pipe(driver, topic, [(f"key{number}", f"value{number}")])
        assert read(driver, "output") == [(f"key{n}", f"value{n}") for n in range(1, 5)]

    def test_a_topic_that_is_computed(self, topology_test_driver: Create) -> None:
        topology = Topology("extractor")
        stream = topology.stream("input", key=string(), value=string())
        stream.to(topic_expression="'output'")
        driver = topology_test_driver(topology)
        pipe(driver, "input", [("key", "value")])
        output = driver.output_topic("output", key=string(), value=string())
        assert output.read_key_values() == [("key", "value")]


class TestWorkshop:
    """fredriv/kafka-streams-workshop: exercises with strings, counts and joins, and articles."""

    def check(
        self, create: Create, topology: Topology, given: tuple[str, list[Any]], found: str
    ) -> list[tuple[Any, Any]]:
        driver = create(topology)
        pipe(driver, *given)
        return read(driver, found)

    lines = (
        "Welcome to JavaZone 2018!",
        "September 11-13, 2018 Oslo",
        "Europe's biggest community-driven developer conference",
        "Located at the Oslo Spektrum conference centre",
    )

    def text(self) -> tuple[Topology, Any, list[tuple[None, str]]]:
        topology = Topology("text")
        stream = topology.stream("text", key=string(), value=string())
        return topology, stream, [(None, line) for line in self.lines]

    def test_lengths_of_lines(self, topology_test_driver: Create) -> None:
        topology, stream, lines = self.text()
        stream.map_values(lambda value: len(value)).to("line-lengths")  # noqa: PLW0108
        found = self.check(topology_test_driver, topology, ("text", lines), "line-lengths")
        assert [value for _, value in found] == [25, 26, 54, 46]

    def test_words_per_line(self, topology_test_driver: Create) -> None:
        topology, stream, lines = self.text()
        stream.map_values(lambda value: len(value.split(" "))).to("words-per-line")
        found = self.check(topology_test_driver, topology, ("text", lines), "words-per-line")
        assert [value for _, value in found] == [4, 4, 5, 7]

    def test_lines_with_a_word(self, topology_test_driver: Create) -> None:
        topology, stream, lines = self.text()
        stream.filter(lambda key, value: "conference" in value).to("contains-conference")
        found = self.check(topology_test_driver, topology, ("text", lines), "contains-conference")
        assert [value for _, value in found] == list(self.lines[2:])

    def test_all_words(self, topology_test_driver: Create) -> None:
        topology, stream, lines = self.text()
        stream.flat_map_values(lambda value: value.split(" ")).to("all-the-words")
        found = self.check(topology_test_driver, topology, ("text", lines), "all-the-words")
        assert [value for _, value in found] == " ".join(self.lines).split(" ")

    @pytest.mark.parametrize("keys", [True, False])
    def test_colors(self, topology_test_driver: Create, keys: bool) -> None:
        topology = Topology("colors")
        stream = topology.stream("colors", key=string(), value=string())
        grouped = stream.group_by_key() if keys else stream.group_by("value")
        grouped.count().to_stream().to("color-counts")
        colors = ["red", "blue", "pink", "red", "green", "pink", "yellow"]
        given = [(each, "") if keys else (None, each) for each in colors]
        found = self.check(topology_test_driver, topology, ("colors", given), "color-counts")
        assert found == [("red", 1), ("blue", 1), ("pink", 1), ("red", 2), ("green", 1),
                         ("pink", 2), ("yellow", 1)]  # fmt: skip

    def test_words_of_hamlet(self, topology_test_driver: Create) -> None:
        topology = Topology("hamlet")
        lines = topology.stream("hamlet", key=string(), value=string())
        words = lines.flat_map_values(lambda value: value.lower().split(" "))
        words.group_by("value").count().to_stream().to("word-counts")
        given = [(None, "To be or not to be"), (None, "that is the question")]
        found = self.check(topology_test_driver, topology, ("hamlet", given), "word-counts")
        assert found == [("to", 1), ("be", 1), ("or", 1), ("not", 1), ("to", 2), ("be", 2),
                         ("that", 1), ("is", 1), ("the", 1), ("question", 1)]  # fmt: skip

    def test_prices_per_site(self, topology_test_driver: Create) -> None:
        topology = Topology("prices")
        prices = topology.stream("prices", key=string(), value=integer())
        prices.group_by_key().reduce(lambda total, price: total + price).to_stream().to("totals")
        given = [("finn", 1500), ("blocket", 23000), ("leboncoin", 1), ("finn", 198), ("finn", 500)]
        found = self.check(topology_test_driver, topology, ("prices", given), "totals")
        assert found == [("finn", 1500), ("blocket", 23000), ("leboncoin", 1), ("finn", 1698),
                         ("finn", 2198)]  # fmt: skip

    changes = (("Alice", "free"), ("Alice", "paying"), ("Alice", "closed"), ("Bob", "free"),
               ("Bob", "paying"), ("Bob", "free"), ("Mallory", "free"),
               ("Mallory", "banned"))  # fmt: skip
    visits = (("Alice", "pageA"), ("Bob", "pageA"), ("Mallory", "pageA"), ("Alice", "pageB"),
              ("Bob", "pageB"), ("Mallory", "pageC"))  # fmt: skip

    def test_visits_with_the_state_of_the_account(self, topology_test_driver: Create) -> None:
        topology = Topology("accounts")
        visits = topology.stream("user-events", key=string(), value=string())
        states = topology.table("account-state-changelog", key=string(), value=string())
        visits.join(states, joiner=lambda page, state: f"{page}-{state}").to("enriched")
        driver = topology_test_driver(topology)
        pipe(driver, "account-state-changelog", self.changes)
        pipe(driver, "user-events", self.visits)
        state = dict(self.changes)
        assert read(driver, "enriched") == [(u, f"{page}-{state[u]}") for u, page in self.visits]

    def test_the_last_page_of_a_closed_account(self, topology_test_driver: Create) -> None:
        topology = Topology("closures")
        pages = topology.table("user-events", key=string(), value=string())
        changes = topology.stream("account-state-changelog", key=string(), value=string())
        closed = changes.filter(lambda key, value: value == "closed")
        closed.join(pages, joiner="right").to("last-page")
        driver = topology_test_driver(topology)
        pipe(driver, "user-events", self.visits)
        pipe(driver, "account-state-changelog", self.changes)
        assert read(driver, "last-page") == [("Alice", "pageB")]

    timed_changes = (
        ("Alice", 1_000_000, "free"), ("Alice", 1_001_000, "paying"),
        ("Alice", 1_003_000, "closed"),
        ("Bob", 1_001_000, "free"), ("Bob", 1_002_000, "paying"), ("Bob", 1_003_000, "free"),
        ("Mallory", 1_002_000, "free"), ("Mallory", 1_003_000, "banned"),
    )  # fmt: skip
    timed_visits = (
        ("Alice", 1_000_000, "pageA"), ("Alice", 1_002_000, "pageB"), ("Bob", 1_001_000, "pageA"),
        ("Bob", 1_004_000, "pageB"), ("Mallory", 1_002_000, "pageA"),
        ("Mallory", 1_005_000, "pageC"),
    )  # fmt: skip
    coinciding = (
        ("Alice", 1_000_000, "pageA", 1_000_000, "free"),
        ("Alice", 1_000_000, "pageA", 1_001_000, "paying"),
        ("Alice", 1_002_000, "pageB", 1_001_000, "paying"),
        ("Alice", 1_002_000, "pageB", 1_003_000, "closed"),
        ("Bob", 1_001_000, "pageA", 1_001_000, "free"),
        ("Bob", 1_001_000, "pageA", 1_002_000, "paying"),
        ("Bob", 1_004_000, "pageB", 1_003_000, "free"),
        ("Mallory", 1_002_000, "pageA", 1_002_000, "free"),
        ("Mallory", 1_002_000, "pageA", 1_003_000, "banned"),
    )

    def coinciding_visits(self) -> tuple[Topology, Any]:
        topology = Topology("coinciding")
        visits, changes = (
            topology.stream(
                topic,
                key=string(),
                value=json(f"timestamp BIGINT, {name} STRING"),
                timestamp="value.timestamp",
            )
            for topic, name in (("user-events", "page"), ("account-state-changelog", "state"))
        )
        joined = visits.join(
            changes,
            within("1 second", grace="1 day"),
            joiner="named_struct('pageTimestamp', left.timestamp, 'stateTimestamp', "
            "right.timestamp, 'page', left.page, 'state', right.state)",
        )
        return topology, joined

    def pipe_timed(self, driver: TopologyTestDriver) -> None:
        for topic, name, records in (
            ("user-events", "page", self.timed_visits),
            ("account-state-changelog", "state", self.timed_changes),
        ):
            given = [(user, {"timestamp": at, name: what}, at) for user, at, what in records]
            pipe(driver, topic, given)

    def test_changes_within_a_second_of_a_visit(self, topology_test_driver: Create) -> None:
        topology, joined = self.coinciding_visits()
        joined.to("coinciding")
        driver = topology_test_driver(topology)
        self.pipe_timed(driver)
        names = ("pageTimestamp", "page", "stateTimestamp", "state")
        assert read(driver, "coinciding") == [
            (user, dict(zip(names, rest, strict=True))) for user, *rest in self.coinciding
        ]

    def test_changes_with_the_list_of_visits(self, topology_test_driver: Create) -> None:
        topology, joined = self.coinciding_visits()
        grouped = joined.group_by("concat_ws('-', key, value.state, value.stateTimestamp)")
        pages = "ARRAY<STRUCT<id: STRING, timestamp: BIGINT>>"
        grouped.aggregate(
            f"STRUCT<state: STRING, stateTimestamp: BIGINT, pages: {pages}>",
            initializer="named_struct('state', CAST(NULL AS STRING), 'stateTimestamp', "
            f"CAST(NULL AS BIGINT), 'pages', CAST(array() AS {pages}))",
            aggregator="named_struct('state', value.state, 'stateTimestamp', "
            "value.stateTimestamp, 'pages', array_append(agg.pages, named_struct('id', "
            "value.page, 'timestamp', value.pageTimestamp)))",
        ).to_stream().to("lists")
        driver = topology_test_driver(topology)
        self.pipe_timed(driver)
        lists: dict[str, list[dict[str, Any]]] = {}
        expected = []
        for user, visited, page, changed, state in self.coinciding:
            known = lists.setdefault(f"{user}-{state}-{changed}", [])
            known.append({"id": page, "timestamp": visited})
            value = {"state": state, "stateTimestamp": changed, "pages": list(known)}
            expected.append((f"{user}-{state}-{changed}", value))
        assert read(driver, "lists") == expected

    articles = (
        ("cnn", "2018-01-30T11:34:00Z"), ("foxnews", "2018-01-30T15:00:00Z"),
        ("bbc", "2018-01-30T17:00:00Z"), ("cnn", "2018-01-30T17:15:00Z"),
        ("bbc", "2018-01-30T21:00:00Z"), ("cnn", "2018-01-30T21:13:00Z"),
        ("foxnews", "2018-01-30T22:30:00Z"), ("bbc", "2018-01-30T23:00:00Z"),
    )  # fmt: skip

    def test_articles_per_site_and_hour(self, topology_test_driver: Create) -> None:
        topology = Topology("articles")
        stream = topology.stream(
            "Articles",
            key=string(),
            value=json("site STRING, published STRING"),
            timestamp="to_timestamp(value.published)",
        )
        by_site = stream.group_by("value.site")
        by_site.count(store=key_value_store("sites")).to_stream().to("ArticleCounts")
        hours = by_site.windowed_by(tumbling("1 hour", grace="1 day"))
        hours.count(store=window_store("articles-per-hour"), name="hours")
        driver = topology_test_driver(topology)
        for number, (site, published) in enumerate(self.articles):
            pipe(driver, "Articles", [(str(number), {"site": site, "published": published})])
        assert read(driver, "ArticleCounts") == [
            ("cnn", 1), ("foxnews", 1), ("bbc", 1), ("cnn", 2), ("bbc", 2), ("cnn", 3),
            ("foxnews", 2), ("bbc", 3),
        ]  # fmt: skip
        store = driver.store("articles-per-hour")
        day = int(datetime(2018, 1, 30, tzinfo=UTC).timestamp() * 1000)
        for site, hours_of_site in (("bbc", (17, 21, 23)), ("cnn", (11, 17, 21)),
                                    ("foxnews", (15, 22))):  # fmt: skip
            found = list(store.fetch(site, 0, day + 24 * 60 * MINUTE))
            assert found == [(day + hour * 60 * MINUTE, 1) for hour in hours_of_site]


class TestKotlin:
    """perkss/kotlin-kafka-and-kafka-streams-examples: aggregations, joins and windows."""

    def posts(self, *, timed: bool = False) -> tuple[Topology, Any]:
        topology = Topology("posts")
        stream = topology.stream(
            "post-created",
            key=string(),
            value=json("id STRING, userId STRING, text STRING, postedAt STRING"),
            timestamp="to_timestamp(value.postedAt)" if timed else None,
        )
        return topology, stream.group_by("value.userId")

    def post(self, driver: TopologyTestDriver, *posts: tuple[str, int]) -> None:
        for number, (user, seconds) in enumerate(posts):
            at = datetime.fromtimestamp(EVENING / 1000 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
            value = {"id": str(number), "userId": user, "text": "a post", "postedAt": at}
            pipe(driver, "post-created", [(str(number), value)])

    def test_posts_of_a_user(self, topology_test_driver: Create) -> None:
        topology, by_user = self.posts()
        by_user.count().to_stream().to("user-posts-total-count")
        driver = topology_test_driver(topology)
        self.post(driver, ("alice", 0), ("bill", 0), ("alice", 0), ("jasmine", 0), ("alice", 0))
        assert read(driver, "user-posts-total-count") == [
            ("alice", 1), ("bill", 1), ("alice", 2), ("jasmine", 1), ("alice", 3)
        ]  # fmt: skip

    def test_posts_of_a_user_in_half_a_minute(self, topology_test_driver: Create) -> None:
        topology, by_user = self.posts(timed=True)
        counts = by_user.windowed_by(tumbling("30 seconds", grace="1 day")).count()
        counts.to_stream().select_key("key.key").to("user-posts-total-count")
        driver = topology_test_driver(topology)
        self.post(driver, ("alice", 0), ("bill", 20), ("alice", 40), ("jasmine", 42), ("alice", 43))
        assert read(driver, "user-posts-total-count") == [
            ("alice", 1), ("bill", 1), ("alice", 1), ("jasmine", 1), ("alice", 2)
        ]  # fmt: skip

    def test_final_counts_of_half_a_minute(self, topology_test_driver: Create) -> None:
        topology, by_user = self.posts(timed=True)
        counts = by_user.windowed_by(tumbling("30 seconds", grace="0 seconds")).count()
        final = counts.suppress(until_window_closes())
        final.to_stream().select_key("key.key").to("user-posts-total-count")
        driver = topology_test_driver(topology)
        self.post(driver, ("alice", 0), ("bill", 10), ("alice", 50), ("jasmine", 52), ("alice", 53),
                  ("alice", 98))  # fmt: skip
        assert read(driver, "user-posts-total-count") == [
            ("alice", 1), ("bill", 1), ("alice", 2), ("jasmine", 1)
        ]  # fmt: skip

    def names(self, driver: TopologyTestDriver, *given: tuple[str, str, str, int]) -> list[Any]:
        for topic, key, name, seconds in given:
            pipe(driver, f"{topic}-names", [(key, name, EVENING + seconds * 1000)])
        return read(driver, "full-names")

    @pytest.mark.parametrize("left", [False, True])
    def test_first_names_with_a_table_of_last_names(
        self, topology_test_driver: Create, left: bool
    ) -> None:
        topology = Topology("stream-table")
        first = topology.stream("first-names", key=string(), value=string())
        last = topology.table("last-names", key=string(), value=string())
        join = first.left_join if left else first.join
        join(last, joiner="concat(left, ' ', coalesce(right, 'null'))").to("full-names")
        driver = topology_test_driver(topology)
        alice = self.names(driver, ("last", "a", "Parker", 7), ("first", "a", "Alice", 0))
        assert alice == [("a", "Alice Parker")]
        bill = self.names(driver, ("last", "b", "Preston", 12), ("first", "b", "Bill", 0))
        assert bill == [("b", "Bill Preston")]
        late = self.names(driver, ("first", "j", "Princess", 4), ("last", "j", "Jasmine", 0))
        assert late == ([("j", "Princess null")] if left else [])

    def test_first_and_last_names_within_ten_seconds(self, topology_test_driver: Create) -> None:
        topology = Topology("stream-stream")
        first, last = (
            topology.stream(f"{each}-names", key=string(), value=string())
            for each in ("first", "last")
        )
        window = within("10 seconds", grace="1 day")
        first.join(last, window, joiner=lambda a, b: f"{a} {b}").to("full-names")
        driver = topology_test_driver(topology)
        alice = self.names(driver, ("first", "a", "Alice", 0), ("last", "a", "Parker", 7))
        assert alice == [("a", "Alice Parker")]
        assert self.names(driver, ("first", "b", "Bill", 0), ("last", "b", "Preston", 12)) == []
        jasmine = self.names(driver, ("last", "j", "Jasmine", 0), ("first", "j", "Princess", 4))
        assert jasmine == [("j", "Princess Jasmine")]

    @pytest.mark.parametrize("kind", ["inner", "left", "outer"])
    def test_tables_of_names(self, topology_test_driver: Create, kind: str) -> None:
        topology = Topology("table-table")
        first, last = (
            topology.table(f"{each}-names", key=string(), value=string())
            for each in ("first", "last")
        )
        join = {"inner": first.join, "left": first.left_join, "outer": first.outer_join}[kind]
        joined = join(last, joiner="concat(coalesce(left, 'null'), ' ', coalesce(right, 'null'))")
        joined.to_stream().to("full-names")
        driver = topology_test_driver(topology)
        alone = kind != "inner"
        alice = self.names(driver, ("first", "a", "Alice", 0), ("last", "a", "Parker", 7))
        assert alice == [("a", "Alice null")] * alone + [("a", "Alice Parker")]
        bill = self.names(driver, ("first", "b", "Bill", 0), ("last", "b", "Preston", 12))
        assert bill == [("b", "Bill null")] * alone + [("b", "Bill Preston")]
        jasmine = self.names(driver, ("last", "j", "Jasmine", 0), ("first", "j", "Princess", 4))
        expected = [("j", "null Jasmine")] * (kind == "outer") + [("j", "Princess Jasmine")]
        assert jasmine == expected

    first_post, second_post, third_post, bills_post, bills_second_post = (
        "Posting my first post",
        "Alice sending her second post in the #1 window",
        "Posting my third post which is in window #2",
        "Bill posting my first post",
        "Bill posting my second post",
    )

    def lengths(self, create: Create, window: Any, posts: list[tuple[str, str, int]]) -> list[Any]:
        topology = Topology("post-lengths")
        stream = topology.stream("user-posts", key=string(), value=string())
        lengths = (
            stream.group_by_key()
            .windowed_by(window)
            .aggregate("BIGINT", initializer="0L", aggregator="agg + length(value)")
        )
        minute = "date_format(key.window.{}, 'mm')"
        span = f"concat({minute.format('start')}, '-', {minute.format('end')})"
        lengths.to_stream().select_key(f"concat(key.key, ' ', {span})").to("lengths")
        driver = create(topology)
        pipe(driver, "user-posts", [(user, text, EVENING + at) for user, text, at in posts])
        return read(driver, "lengths")

    def test_lengths_of_posts_in_two_minutes(self, topology_test_driver: Create) -> None:
        posts = [("alice", self.first_post, 0), ("bill", self.bills_post, 10),
                 ("alice", self.second_post, 25_000),
                 ("alice", self.third_post, 185_000)]  # fmt: skip
        window = tumbling("2 minutes", grace="0 seconds")
        assert self.lengths(topology_test_driver, window, posts) == [
            ("alice 00-02", 21), ("bill 00-02", 26), ("alice 00-02", 67), ("alice 02-04", 43)
        ]  # fmt: skip

    def test_lengths_of_posts_each_minute(self, topology_test_driver: Create) -> None:
        start = 80_000
        posts = [("alice", self.first_post, start), ("bill", self.bills_post, start + 10),
                 ("alice", self.second_post, start + 1),
                 ("alice", self.third_post, start + 185_000),
                 ("bill", self.bills_second_post, start + 10 + 375_000)]  # fmt: skip
        window = hopping("2 minutes", advance="1 minute", grace="0 seconds")
        assert self.lengths(topology_test_driver, window, posts) == [
            ("alice 00-02", 21), ("alice 01-03", 21), ("bill 00-02", 26), ("bill 01-03", 26),
            ("alice 00-02", 67), ("alice 01-03", 67), ("alice 03-05", 43), ("alice 04-06", 43),
            ("bill 06-08", 27), ("bill 07-09", 27),
        ]  # fmt: skip

    def test_lengths_of_posts_in_a_session(self, topology_test_driver: Create) -> None:
        topology = Topology("session-lengths")
        stream = topology.stream("user-posts", key=string(), value=string())
        grouped = stream.group_by_key().windowed_by(sessions("2 minutes", grace="1 day"))
        lengths = grouped.aggregate(
            "BIGINT",
            initializer="0L",
            aggregator="agg + length(value)",
            merger="left + right",
        )
        lengths.to_stream().select_key("key.key").to("lengths", value=long())
        driver = topology_test_driver(topology)
        posts = [(self.first_post, 0), (self.second_post, 55_000), (self.third_post, 165_000)]
        pipe(driver, "user-posts", [("alice", text, EVENING + at) for text, at in posts])
        assert read(driver, "lengths") == [
            ("alice", 21), ("alice", None), ("alice", 67), ("alice", None), ("alice", 110)
        ]  # fmt: skip
