"""The topology “two-shops”."""

from millrace_runtime import Topology, json, string

topology = Topology("two-shops", partitions={"north": 3, "south": 2})

orders = topology.stream(
    "north",
    "south",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
    timestamp="value.ordered_at",
    invalid_timestamp="skip",
    start="latest",
    name="orders",
)
# Logs of all regions
logs = topology.stream(pattern="logs-.*", key=string(), value=string(), name="logs")
# All orders
orders.to("all-orders", name="all")
logs.to("all-logs", name="log")


if __name__ == "__main__":
    topology.main()
