"""unix-follower/kafka-streams-finance-processor, judged by its own tests.

From the repository come facts only: topics, what the services compute, and the records of their
tests. The service that predicts prices is, as in those tests, one that always answers 427. Not
compared: `approximateNumEntries` of a store of RocksDB, which counts an update twice.
docs/applications.md has their lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict

import pytest
from millrace_runtime import (
    KeyValueStore,
    Processor,
    ProcessorContext,
    Record,
    Topology,
    json,
    key_value_store,
    sessions,
    sliding,
    string,
    tumbling,
    until_window_closes,
)

from tests.testing.piping import Create, pipe, read

pytestmark = [pytest.mark.spark, pytest.mark.slow]


class Price(TypedDict):
    ticker: str
    date: str
    open: Decimal
    high: Decimal
    close: Decimal
    capitalGains: Decimal | None


class Top(TypedDict):
    ticker: str
    pricePrediction: Decimal


ETF, FUND = ("VOO", "SPY"), ("VTSAX",)
PREDICTION = (
    "ticker STRING, openRangeAt TIMESTAMP, close DECIMAL(38, 18), closedRangeAt TIMESTAMP, "
    "predictionAt TIMESTAMP, pricePrediction DECIMAL(38, 18)"
)


def read_as_json(value: dict[str, Any]) -> dict[str, Any]:
    """Return a value as it is read from JSON, whose numbers are floats."""
    return {k: float(v) if isinstance(v, Decimal) else v for k, v in value.items()}


def utc(date: str) -> int:
    return int(datetime.fromisoformat(f"{date}-05:00").timestamp() * 1000)


def collect(key: Any, value: Any, agg: Any) -> Any:
    agg.append(value)
    return agg


def predict(prices: Any) -> dict[str, Any]:
    ordered = sorted(prices, key=lambda each: str(each["date"]))
    return {
        "ticker": ordered[-1]["ticker"],
        "openRangeAt": utc(ordered[0]["date"]),
        "close": ordered[-1]["close"],
        "closedRangeAt": utc(ordered[-1]["date"]),
        "predictionAt": 0,
        "pricePrediction": Decimal(427),
    }


class KeepsTheTop(Processor):
    """Keeps the tickers with the highest predictions, each once."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def init(self, context: ProcessorContext[Any, Any]) -> None:
        self.tops = context.store("top-predictions-state-store", KeyValueStore[str, Any])

    def process(self, record: Record[Any, Any]) -> None:
        known = self.tops.get(record.key) or []
        tops = [each for each in known if each["ticker"] != record.value.ticker]
        price = record.value.pricePrediction
        tops.append({"ticker": record.value.ticker, "pricePrediction": price})
        tops.sort(key=lambda each: (each["pricePrediction"], each["ticker"]), reverse=True)
        self.tops.put(record.key, tops[: self.limit])


class TestPrices:
    """unix-follower/kafka-streams-finance-processor: four topologies over prices of shares."""

    closes = {"VOO": "426.6700134277344", "SPY": "464.1000061035156", "GOOGL": "132.52000427246094"}

    def price(self, ticker: str) -> dict[str, Any]:
        close = Decimal(self.closes.get(ticker, "112.29000091552734"))
        values = {"ticker": ticker, "date": "2023-12-12T00:00:00", "open": close, "high": close}
        return {**values, "close": close, "capitalGains": None if ticker == "GOOGL" else Decimal(0)}

    def prediction(self, ticker: str, prediction: str) -> tuple[str, dict[str, Any]]:
        at = {
            "openRangeAt": utc("2023-12-12T00:00:00"),
            "closedRangeAt": utc("2023-12-12T00:00:00"),
        }
        values = {"ticker": ticker, "close": self.price(ticker)["close"], "predictionAt": 0}
        return ticker, {**values, **at, "pricePrediction": Decimal(prediction)}

    def router(self) -> Topology:
        topology = Topology("router")
        prices = topology.stream("stock-market", key=string(), value=json(Price))
        branches = prices.split(
            {"etf": lambda price: price["ticker"] in ETF,
             "fund": lambda price: price["ticker"] in FUND},
            default="share",
        )  # fmt: skip
        for kind, branch in branches.items():
            keyed = branch.select_key("if(trim(coalesce(key, '')) = '', value.ticker, key)")
            keyed.to(f"stock-market-{kind}")
        return topology

    def test_prices_go_to_the_topic_of_their_kind(self, topology_test_driver: Create) -> None:
        driver = topology_test_driver(self.router())
        tickers = ("VOO", "SPY", "GOOGL", "VTSAX")
        driver.input_topic("stock-market").pipe_value_list([self.price(each) for each in tickers])
        for kind, expected in (("etf", ETF), ("share", ("GOOGL",)), ("fund", FUND)):
            found = read(driver, f"stock-market-{kind}")
            assert found == [(ticker, read_as_json(self.price(ticker))) for ticker in expected]

    @pytest.mark.parametrize("key", [None, "", " ", "VOO"])
    def test_a_price_without_a_key_gets_its_ticker(
        self, topology_test_driver: Create, key: str | None
    ) -> None:
        driver = topology_test_driver(self.router())
        pipe(driver, "stock-market", [(key, self.price("VOO"))])
        assert read(driver, "stock-market-etf") == [("VOO", read_as_json(self.price("VOO")))]

    windows = {
        "session": sessions("10 seconds", grace="0 seconds"),
        "time": tumbling("10 seconds", grace="0 seconds"),
        "sliding": sliding("10 seconds", grace="0 seconds"),
    }

    @pytest.mark.parametrize(("window", "count"), [("session", 1), ("time", 1), ("sliding", 2)])
    def test_a_prediction_for_each_closed_window(
        self, topology_test_driver: Create, window: str, count: int
    ) -> None:
        topology = Topology("stock-market")
        prices = topology.stream("-etf", "-fund", "-share", key=string(), value=json(Price))
        windowed = prices.group_by_key().windowed_by(self.windows[window])
        merger = "concat(left, right)" if window == "session" else None
        collected = windowed.aggregate(
            list[Price], initializer=list, aggregator=collect, merger=merger
        )
        closed = collected.suppress(until_window_closes()).to_stream()
        present = closed.filter(lambda prices: prices is not None).select_key("key.key")
        predicted = present.map_values(predict, returns=f"STRUCT<{PREDICTION}>")
        predicted.to_table(store=key_value_store("predictions-state-store"))
        predicted.to("predictions")
        driver = topology_test_driver(topology)
        for at in (1_700_000_000_000, 1_700_000_011_000):
            pipe(driver, "-etf", [("VOO", self.price("VOO"), at)])
        _, expected = self.prediction("VOO", "427")
        assert read(driver, "predictions") == [("VOO", read_as_json(expected))] * count
        assert driver.store("predictions-state-store").get("VOO") == expected

    @pytest.mark.parametrize(
        ("predicted", "kept"),
        [
            ("426.6700134277344", False),
            ("341.3360107421874", True),
            ("213.3350067138644", True),
        ],
    )
    def test_losses_are_kept(
        self, topology_test_driver: Create, predicted: str, kept: bool
    ) -> None:
        topology = Topology("losses")
        predictions = topology.stream(
            "predictions", key=string(), value=json("close STRING, pricePrediction STRING")
        )
        lost = predictions.filter(
            "CAST(value.close AS DECIMAL(24, 16)) * 0.8BD >= "
            "CAST(value.pricePrediction AS DECIMAL(24, 16))"
        )
        store = key_value_store("loss-predictions-state-store")
        lost.map_values("value.pricePrediction").to_table(store=store)
        driver = topology_test_driver(topology)
        written = f'{{"close": {self.closes["VOO"]}, "pricePrediction": {predicted}}}'
        driver.input_topic("predictions", value=string()).pipe_input("VOO", written)
        rows = dict(driver.store("loss-predictions-state-store").all())
        assert rows == ({"VOO": predicted} if kept else {})

    def top(
        self, create: Create, limit: int, given: Iterable[tuple[str, str]]
    ) -> dict[str, Decimal]:
        topology = Topology("top-predictions")
        predictions = topology.stream("predictions", key=string(), value=json(PREDICTION))
        tops = key_value_store("top-predictions-state-store", key_type=str, value_type=list[Top])
        predictions.repartition(partitions=1, topic="TopPredictionsProcessor").select_key(
            "'top-predictions'"
        ).process(KeepsTheTop(limit), stores=[tops])
        driver = create(topology)
        pipe(driver, "predictions", [self.prediction(*each) for each in given])
        found = driver.store("top-predictions-state-store").get("top-predictions")
        return {each["ticker"]: each["pricePrediction"] for each in found}

    def test_a_new_prediction_replaces_the_one_before(self, topology_test_driver: Create) -> None:
        given = [("VOO", "341.3360107421874"), ("GOOGL", "132.52000427246094")]
        found = self.top(topology_test_driver, 20, given)
        assert found == {ticker: Decimal(predicted) for ticker, predicted in given}
        found = self.top(topology_test_driver, 20, [*given, ("VOO", "341.34")])
        assert found == {"VOO": Decimal("341.34"), "GOOGL": Decimal("132.52000427246094")}

    def test_only_the_highest_predictions_are_kept(self, topology_test_driver: Create) -> None:
        given = [
            ("VOO", "341.3360107421874"), ("GOOGL", "132.52000427246094"), ("SPY", "464.201"),
            ("VTSAX", "112.299"), ("NVDA", "689.51"), ("AAPL", "183.286"), ("AMZN", "170.42"),
            ("MA", "457.84"), ("MSFT", "399.57"), ("TSLA", "192.54"),
        ]  # fmt: skip
        found = self.top(topology_test_driver, 5, given)
        assert list(found) == ["NVDA", "SPY", "MA", "MSFT", "VOO"]
        assert found == {each: Decimal(dict(given)[each]) for each in found}
