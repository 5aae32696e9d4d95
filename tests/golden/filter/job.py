"""The topology “big-orders”."""

from millrace_runtime import Topology, json, string

topology = Topology("big-orders", partitions={"orders": 3})

orders = topology.stream(
    "orders",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
# Big ones
big = orders.filter("value.quantity > 10", name="big")
# Big orders
big.to("big-orders")


if __name__ == "__main__":
    topology.main()
