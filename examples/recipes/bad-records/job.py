"""Prices per piece; orders that cannot be read or computed go to a topic of their own."""

from millrace_runtime import Topology, double, json, string

topology = Topology(
    "bad-records",
    description=__doc__,
    deserialization_handler="dead_letter",
    processing_handler="dead_letter",
    dead_letter_topic="bad-orders",
)

orders = topology.stream("orders", key=string(), value=json("amount DOUBLE, quantity INT"))

orders.map_values("value.amount / value.quantity", name="per-piece").to("prices", value=double())


if __name__ == "__main__":
    topology.main()
