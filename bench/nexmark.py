"""Nexmark's queries 0 to 8 as topologies: Millrace, Kafka Streams and plain Spark.

    ./millrace bench nexmark -- --events 1000000
    ./millrace bench nexmark -- --events 0 --compare 20000

Events of an auction house: of fifty, one is a person, three are auctions and the others are bids,
a millisecond apart, always the same for a seed. First, the results of Millrace are compared with
those of Kafka Streams with the same document, on few events in one partition, where the order of
all records is determined. Then both process all events with two threads, at least once, and so
does the program that the plain dialect writes, where it can say the query. Kafka Streams is a
process for each round; Spark runs in one process, and its first rounds warm it up. The last events
of each partition are an auction and its bid an hour later, which close all windows before. Exit
code 1 if results differ.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter
from typing import Any

import psutil
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from millrace_compiler import compile_document
from millrace_runtime.analyzer.compiling import session_analyzer
from millrace_runtime.plain.simulation import module_of
from millrace_runtime.results.comparing import canonical
from millrace_runtime.session import session

from bench._broker import Broker
from bench._documents import chain, document, edge, node
from bench._table import processor_seconds
from bench.throughput import (
    OWN,
    PARTITIONS,
    STREAMS,
    WARMING,
    engine,
    figures,
    on_kafka_streams,
    on_spark,
    show,
)  # fmt: skip

PLAIN = "plain Spark"
PERSONS, AUCTIONS, BIDS = "persons", "auctions", "bids"
SCHEMAS = {
    PERSONS: "id BIGINT, name STRING, city STRING, state STRING",
    AUCTIONS: "id BIGINT, item STRING, category INT, seller BIGINT, reserve BIGINT, expires BIGINT",
    BIDS: "auction BIGINT, bidder BIGINT, price BIGINT",
}
STATES = ("OR", "ID", "CA", "AZ", "WA", "WY")
#: ms that an auction is open, and that two tasks may be apart in event time
OPEN, APART = 10_000, 60_000
#: how many of the newest persons sell, and of the newest auctions get bids; half of these go to one
SELLERS, WANTED = 400, 300
HOUR = 3_600_000
TEXT = {"format": "string"}


class Events:
    """Writes events to topics with a prefix; `count`: of each topic, the records written."""

    def __init__(self, address: str, prefix: str, partitions: int) -> None:
        self.address, self.prefix, self.partitions = address, prefix, partitions
        self.count: Counter[str] = Counter()
        create(address, [prefix + name for name in SCHEMAS], partitions)
        # As Kafka Streams and Spark partition, because records are joined with repartitioned ones.
        self._producer = Producer(
            {
                "bootstrap.servers": address, "linger.ms": 20, "partitioner": "murmur2_random",
                "queue.buffering.max.messages": 500_000,
            }
        )  # fmt: skip

    def write(self, events: int, seed: int = 1) -> None:
        """Write so many events, and the last ones."""
        chance = random.Random(seed)  # noqa: S311
        persons = auctions = 0
        for n in range(events):
            now = 1_000 + n
            if n % 50 == 0:
                self._put(PERSONS, persons, now, _person(persons, chance))
                persons += 1
            elif n % 50 < 4:
                seller = chance.randrange(max(0, persons - SELLERS), persons)
                self._put(AUCTIONS, auctions, now, _auction(auctions, seller, now, chance))
                auctions += 1
            else:
                first = max(0, auctions - WANTED)
                hot = auctions - 1 - (auctions - 1) % 100
                chosen = hot if hot >= first and chance.random() < 0.5 else None
                auction = chance.randrange(first, auctions) if chosen is None else chosen
                self._put(BIDS, auction, now, _bid(auction, persons, chance))
        for partition in range(self.partitions):
            last, now = auctions + partition, 1_000 + events + HOUR
            self._put(AUCTIONS, last, now, _auction(last, 0, now, chance), partition)
            self._put(BIDS, last, now, _bid(last, persons, chance), partition)
        self._producer.flush(120)

    def _put(
        self, topic: str, key: int, timestamp: int, value: dict[str, Any], partition: int = -1
    ) -> None:
        text = json.dumps(value, separators=(",", ":"))
        self.count[topic] += 1
        while True:
            try:
                self._producer.produce(
                    self.prefix + topic, text, str(key), partition, timestamp=timestamp
                )
                return
            except BufferError:
                self._producer.poll(0.1)


def _person(id: int, chance: random.Random) -> dict[str, Any]:
    state = chance.choice(STATES)
    return {"id": id, "name": f"name-{id}", "city": f"city-{id % 313}", "state": state}


def _auction(id: int, seller: int, now: int, chance: random.Random) -> dict[str, Any]:
    return {
        "id": id, "item": f"item-{id % 97}", "category": 10 + chance.randrange(5),
        "seller": seller, "reserve": chance.randrange(1_000), "expires": now + OPEN,
    }  # fmt: skip


def _bid(auction: int, persons: int, chance: random.Random) -> dict[str, Any]:
    price = int(100 * 10 ** (6 * chance.random()))
    return {"auction": auction, "bidder": chance.randrange(persons), "price": price}


def documents(prefix: str, partitions: int, sink: str) -> dict[str, dict[str, Any]]:
    """Return the queries by name: they read topics with this prefix, and write to `sink`-q0 …"""

    def source(name: str, kind: str = "stream") -> dict[str, Any]:
        topic = {"topic": prefix + name} if kind == "table" else {"topics": [prefix + name]}
        value = {"format": "json", "schema": SCHEMAS[name]}
        return node(name, f"source.{kind}", key=TEXT, value=value, **topic)

    found: dict[str, dict[str, Any]] = {}

    def query(nodes: list[dict[str, Any]], *edges: dict[str, str]) -> None:
        """Add a query of a chain of nodes, with others that `edges` connect with it."""
        name = f"q{len(found)}"
        apart = {each["source"] for each in edges}
        inner = [each["id"] for each in nodes if each["id"] not in apart]
        # A joined stream comes into the left port.
        ends = [f"{each}.left" if each == "join" else each for each in inner]
        links = chain(inner[0], *ends[1:], "out")
        for each in links:
            each["source"] = each["source"].removesuffix(".left")
        out = node("out", "sink.topic", topic=f"{sink}-{name}", value={"format": "json"})
        made = document(f"{sink}-{name}", [*nodes, out], [*links, *edges])
        made["topics"] = {prefix + n: {"partitions": partitions} for n in SCHEMAS
                          if any(each["id"] == n for each in nodes)}  # fmt: skip
        found[name] = made

    bids, updates = source(BIDS), node("updates", "to_stream")
    best = "if(value.price > agg.price, value, agg)"
    window = "cast(unix_millis(key.window.start) AS STRING)"
    seller = node("by-seller", "select_key", key="cast(value.seller AS STRING)")
    closes = node("closed", "suppress", until="window_closes")

    # 0: all bids. 1: prices in another currency. 2: the bids on some auctions.
    query([bids])
    euros = "named_struct('auction', value.auction, 'price', value.price * 908 div 1000)"
    query([bids, node("euros", "map_values", value=euros)])
    chosen = node("chosen", "filter", predicate="value.auction % 123 = 0")
    price = "named_struct('auction', value.auction, 'price', value.price)"
    query([bids, chosen, node("prices", "map_values", value=price)])

    # 3: who sells something of a category in some states.
    joined = (
        "named_struct('name', right.name, 'city', right.city, 'state', right.state, "
        "'auction', left.id)"
    )
    query(
        [
            source(AUCTIONS),
            node("category", "filter", predicate="value.category = 10"),
            seller,
            node("join", "join.stream_table", type="inner", joiner=joined),
            source(PERSONS, "table"),
            node("near", "filter", predicate="value.state IN ('OR', 'ID', 'CA')"),
        ],
        edge(PERSONS, "near"), edge("near", "join.right"),
    )  # fmt: skip

    # 4: the average of the highest prices of a category's auctions.
    bid = (
        "named_struct('price', left.price, 'category', right.category, 'seller', right.seller, "
        "'expires', right.expires)"
    )
    highest = [
        bids,
        source(AUCTIONS, "table"),
        node("join", "join.stream_table", type="inner", joiner=bid),
        node("in-time", "filter", predicate="unix_millis(timestamp) <= value.expires"),
        node("highest", "reduce", reducer=best),
    ]
    right = edge(AUCTIONS, "join.right")
    by_category = node(
        "sums", "aggregate", type="STRUCT<n: BIGINT, sum: BIGINT>",
        initializer="named_struct('n', 0L, 'sum', 0L)",
        aggregator="named_struct('n', agg.n + 1, 'sum', agg.sum + value)",
        subtractor="named_struct('n', agg.n - 1, 'sum', agg.sum - value)",
        group_by={"key": "cast(value.category AS STRING)", "value": "value.price"},
    )  # fmt: skip
    average = node("average", "map_values", value="value.sum / value.n")
    query([*highest, by_category, updates, average], right)

    # 5: the auction with the most bids of ten seconds, every two seconds.
    hopping = {"type": "hopping", "size": 10_000, "advance": 2_000, "grace": 0}
    counted = "named_struct('auction', cast(key.key AS BIGINT), 'bids', value)"
    most = (
        "if(value.bids > agg.bids OR value.bids = agg.bids AND value.auction < agg.auction, "
        "value, agg)"
    )
    query(
        [
            bids,
            node("count", "count", window=hopping),
            closes,
            updates,
            node("by-window", "map", key=window, value=counted),
            node("most", "reduce", reducer=most),
            node("hottest", "to_stream"),
        ]
    )

    # 6: the average price of the last ten auctions of a seller, once they are closed.
    added = (
        "if(size(agg) < 10, concat(agg, array(value.price)), "
        "concat(slice(agg, 2, 9), array(value.price)))"
    )
    last = node(
        "last", "aggregate", type="ARRAY<BIGINT>", initializer="cast(array() AS ARRAY<BIGINT>)",
        aggregator=added,
    )  # fmt: skip
    of_ten = "aggregate(value, 0L, (sum, price) -> sum + price) / size(value)"
    query(
        [
            *highest,
            node("over", "suppress", until="time_limit", limit=OPEN),
            updates,
            seller,
            last,
            node("changes", "to_stream"),
            node("average", "map_values", value=of_ten),
        ],
        right,
    )

    # 7: the highest bid of ten seconds.
    tumbling = {"type": "tumbling", "size": 10_000, "grace": APART}
    query(
        [
            bids,
            node("together", "select_key", key="'all'"),
            node("highest", "reduce", reducer=best, window=tumbling),
            closes,
            updates,
            node("by-window", "select_key", key=window),
        ]
    )

    # 8: persons who sell something within ten seconds of their arrival.
    new = "named_struct('name', left.name, 'reserve', right.reserve)"
    query(
        [
            source(PERSONS),
            node("join", "join.stream_stream", joiner=new, before=0, after=10_000, grace=APART),
            source(AUCTIONS),
            seller,
        ],
        edge(AUCTIONS, "by-seller"), edge("by-seller", "join.right"),
    )  # fmt: skip
    return found


def read_of(query: dict[str, Any], events: Events) -> int:
    """Return how many records a query reads."""
    return sum(events.count[topic.removeprefix(events.prefix)] for topic in query["topics"])


def results(address: str, topic: str) -> Counter[tuple[str, str]]:
    """Return the records of a topic's only partition, in any order."""
    consumer = Consumer({"bootstrap.servers": address, "group.id": "nexmark", "log_level": 0})
    place = TopicPartition(topic, 0, 0)
    consumer.assign([place])
    left = consumer.get_watermark_offsets(place, timeout=30)[1]
    found: Counter[tuple[str, str]] = Counter()
    while left > 0:
        for each in consumer.consume(10_000, 1.0):
            key, value = each.key() or b"", each.value()
            found[key.decode(), canonical(None if value is None else json.loads(value))] += 1
            left -= 1
    consumer.close()
    return found


def create(address: str, topics: list[str], partitions: int) -> None:
    """Create topics, and wait until they exist."""
    if not topics:
        return
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    made = [NewTopic(name, partitions, 1) for name in topics]
    for future in admin.create_topics(made).values():
        future.result()


def compare(spark: Any, address: str, chosen: list[str], count: int) -> list[str]:
    """Return the queries whose results differ from those of Kafka Streams."""
    events = Events(address, "few-", 1)
    events.write(count)
    own, theirs = (documents(events.prefix, 1, sink) for sink in ("own", "theirs"))
    create(address, [f"{sink}-{name}" for name in chosen for sink in ("own", "theirs")], 1)
    wrong = []
    for name in chosen:
        read = read_of(own[name], events)
        # One micro-batch: of several, one could have bids whose auctions are in the next.
        on_spark(spark, address, own[name], most=4 * read)
        failed = on_kafka_streams(address, theirs[name], read, threads=1).get("error")
        mine, other = (results(address, f"{sink}-{name}") for sink in ("own", "theirs"))
        if failed or mine != other or not mine:
            wrong.append(name)
            print(f"{name}: {failed or 'different results'}", flush=True)
            print(f"  only ours: {list((mine - other).items())[:5]}")
            print(f"  only Kafka Streams': {list((other - mine).items())[:5]}")
        else:
            print(f"{name}: the same {mine.total():,} results of {read:,} records", flush=True)
    return wrong


def on_plain(spark: Any, address: str, query: dict[str, Any], records: int) -> dict[str, Any]:
    """Run the plain program of a document on all records."""
    program = compile_document(query, session_analyzer(spark), dialect="plain")
    if program.code is None:
        errors = [each for each in program.diagnostics if each.severity == "error"]
        return {"error": f"refused at {errors[0].node}: {errors[0].code}"}
    create(address, list(program.between), PARTITIONS)
    module = module_of(program.code["job.py"])
    checkpoint = tempfile.mkdtemp(prefix="millrace-bench-", dir=session.local_dir())
    options = Namespace(
        bootstrap_servers=address, kafka_config={}, checkpoint=checkpoint, available_now=True,
        trigger="0 seconds", starting_offsets={},
    )  # fmt: skip
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", str(PARTITIONS))
    java = psutil.Process(spark._jvm.java.lang.ProcessHandle.current().pid())
    began, worked = time.monotonic(), processor_seconds(java)
    try:
        module.topology(module.Kafka(own, options))
        return figures(records, time.monotonic() - began, processor_seconds(java) - worked)
    except Exception as error:  # noqa: BLE001 - whatever ends a query
        return {"error": str(error).splitlines()[0][:100]}
    finally:
        shutil.rmtree(checkpoint, ignore_errors=True)


def measure(
    spark: Any, address: str, chosen: list[str], given: Namespace
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the figures of all rounds."""
    events = Events(address, "all-", PARTITIONS)
    events.write(given.events)
    turns = range(WARMING + given.rounds)
    sinks = ["timed", *(f"plain-{turn}" for turn in turns)]
    create(address, [f"{sink}-{name}" for sink in sinks for name in chosen], PARTITIONS)
    queries = {sink: documents(events.prefix, PARTITIONS, sink) for sink in sinks}
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name in chosen:
        query = queries["timed"][name]
        read = read_of(query, events)
        found[name, STREAMS] = [on_kafka_streams(address, query, read) for _ in range(given.rounds)]
        own = [on_spark(spark, address, query, most=4 * read) for _ in turns]
        found[name, OWN] = own[WARMING:]
        if not given.without_plain:
            plain = [on_plain(spark, address, queries[f"plain-{n}"][name], read) for n in turns]
            found[name, PLAIN] = plain[WARMING:]
        print(f"{name}: {found[name, OWN]}", flush=True)
    return found


def main() -> int:
    """Print what was compared, and the table."""
    parser = argparse.ArgumentParser(prog="bench nexmark")
    parser.add_argument("--events", type=int, default=1_000_000, help="0: measure nothing")
    parser.add_argument("--compare", type=int, default=20_000, help="events; 0: compare nothing")
    parser.add_argument("--only", nargs="+", choices=sorted(documents("", 1, "")), metavar="qN")
    parser.add_argument("--rounds", type=int, default=1, help="measured, of each (default: 1)")
    parser.add_argument("--without-plain", action="store_true")
    given = parser.parse_args()
    chosen = given.only or sorted(documents("", 1, ""))
    with Broker() as broker:
        spark = engine()
        try:
            wrong = compare(spark, broker.address, chosen, given.compare) if given.compare else []
            if given.events:
                found = measure(spark, broker.address, chosen, given)
                print(f"\nat least once, load {os.getloadavg()[0]:.1f}")
                show(found)
        finally:
            spark.stop()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
