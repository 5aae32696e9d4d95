"""Revenue per item and hour: orders from a Parquet folder, prices from Kafka."""

import os

from millrace_runtime import Topology, double, json, reader, string, tumbling

topology = Topology("revenue-per-hour", description=__doc__, partitions={"prices": 3})

# As the warehouse exports them: one file for each quarter of an hour.
orders = topology.stream(
    "orders",
    key=string(),
    value=json("item STRING, quantity INT"),
    reader=reader(
        "parquet",
        options={"path": os.environ.get("ORDERS", "/data/orders"), "maxFilesPerTrigger": 10},
        schema="id STRING, item STRING, quantity INT, at TIMESTAMP",
        columns={"key": "item", "value": "struct(item, quantity)", "timestamp": "at"},
    ),
    partitions=3,
)
prices = topology.table("prices", key=string(), value=double())

revenue = (
    # Add the price
    orders.join(prices, joiner="left.quantity * right", name="with-price")
    # Revenue per hour
    .group_by_key()
    .windowed_by(tumbling("1 hour", grace="15 minutes"))
    .aggregate("DOUBLE", initializer="0D", aggregator="agg + value", name="revenue")
)

# Revenue
revenue.to("revenue-per-hour", value=double())


if __name__ == "__main__":
    topology.main()
