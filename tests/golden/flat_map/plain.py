r"""items-of-baskets, as Spark Structured Streaming.

Run it with Spark's Kafka package:

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 job.py \
        --bootstrap-servers HOST:PORT --checkpoint FOLDER
"""

import argparse
import json
import logging
import signal
import threading

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter


class Kafka:
    """Topics as streaming DataFrames, and streaming DataFrames to topics."""

    def __init__(self, spark: SparkSession, options: argparse.Namespace) -> None:
        self.spark = spark
        self.client: dict[str, str] = {
            "kafka.bootstrap.servers": options.bootstrap_servers,
            **options.kafka_config,
        }
        self.checkpoint: str = options.checkpoint
        self.available_now: bool = options.available_now
        self.trigger: str = options.trigger
        self.starting_offsets: dict[str, dict[str, int]] = options.starting_offsets

    def read(self, *topics: str, starting: str = "earliest") -> DataFrame:
        """The records of topics, as they arrive."""
        given = self.starting_offsets
        offsets = {topic: given[topic] for topic in topics if topic in given}
        return (
            self.spark.readStream.format("kafka")
            .options(**self.client)
            .option("subscribe", ",".join(topics))
            .option("startingOffsets", json.dumps(offsets) if offsets else starting)
            .option("includeHeaders", "true")
            .load()
        )

    def write(
        self, rows: DataFrame, name: str, topic: str | None = None, mode: str = "append"
    ) -> None:
        """Starts a query that writes rows to a topic, by default the one that each row names."""
        query = rows.writeStream.format("kafka").outputMode(mode).options(**self.client)
        self._start(query.option("topic", topic) if topic else query, name)

    def _start(self, query: DataStreamWriter, name: str) -> None:
        query = query.queryName(name).option("checkpointLocation", f"{self.checkpoint}/{name}")
        if self.available_now:
            query.trigger(availableNow=True).start().awaitTermination()
        else:
            query.trigger(processingTime=self.trigger).start()


def client_settings(file: str) -> dict[str, str]:
    """Settings of Kafka clients, such as security.protocol, from lines of key=value."""
    with open(file, encoding="utf-8") as lines:
        pairs = [line.split("=", 1) for line in lines if line.strip() and line[0] != "#"]
    return {f"kafka.{name.strip()}": value.strip() for name, value in pairs}


def topology(kafka: Kafka) -> None:
    """items-of-baskets."""

    baskets = kafka.read("baskets").selectExpr(
        "CAST(key AS STRING) AS key",
        "from_json('[' || CAST(value AS STRING) || ']', 'ARRAY<ARRAY<STRUCT<item: STRING, "
        "count: INT>>>', map('mode', 'FAILFAST'))[0] AS value",
        "timestamp",
        "headers",
    )

    items = (
        baskets.withColumn(
            "record",
            F.explode(
                F.expr("transform(value, i -> named_struct('key', i.item, 'value', i.count))")
            ),
        )
        .withColumns({"key": F.expr("record.key"), "value": F.expr("record.value")})
        .drop("record")
    )

    kafka.write(
        items.selectExpr("key", "unhex(right(lpad(hex(value), 16, '0'), 8)) AS value", "headers"),
        "out",
        topic="items",
    )


def main() -> None:
    """Runs the topology on a broker until a query ends, or SIGTERM or Ctrl-C stop it.

    Exit codes: 0 stopped, or done with --available-now; 1 a query failed; 2 invalid options; 143
    stopped by SIGTERM with --available-now.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap-servers", required=True)
    parser.add_argument("--checkpoint", required=True, help="folder or URI of offsets and state")
    parser.add_argument(
        "--kafka-config",
        type=client_settings,
        default={},
        metavar="FILE",
        help="settings of Kafka clients, such as security.protocol, as key=value lines",
    )
    parser.add_argument("--trigger", default="0 seconds", help="time between micro-batches")
    parser.add_argument("--available-now", action="store_true", help="stop at the end of topics")
    parser.add_argument(
        "--starting-offsets",
        type=json.loads,
        default={},
        metavar="JSON",
        help='where a new checkpoint starts, {"TOPIC": {"PARTITION": OFFSET}}, all partitions of '
        "a topic (-2: the first record, -1: the end)",
    )
    options = parser.parse_args()
    stopping = threading.Event()

    def stop(*_: object) -> None:
        stopping.set()
        logging.disable()  # Py4J logs a traceback if the signal has stopped Spark, too

    def stop_on_signals() -> None:
        if threading.current_thread() is threading.main_thread() and not options.available_now:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, stop)

    stop_on_signals()
    try:
        spark = SparkSession.builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
        stop_on_signals()  # Spark handles Ctrl-C on its own
        topology(Kafka(spark, options))
        ended = options.available_now
        while not (ended or stopping.is_set()):
            ended = spark.streams.awaitAnyTermination(1)
        if stopping.is_set():
            for query in spark.streams.active:
                query.stop()
    except Exception:
        if not stopping.wait(1):  # a signal to the process group stops Spark, maybe first
            raise


if __name__ == "__main__":
    main()
