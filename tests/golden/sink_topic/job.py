"""The topology “routes-by-name”."""

from millrace_runtime import Topology, json, long, string

topology = Topology(
    "routes-by-name",
    processing_guarantee="exactly_once",
    processing_handler="dead_letter",
    dead_letter_topic="orders-dead",
)

orders = topology.stream(
    "orders",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
# One topic per country
orders.to(
    topic_expression="concat('orders-', lower(value.country))",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
    name="by-country",
)
quantity = orders.map_values("value.quantity", name="quantity")
quantity.to("quantities", value=long(), name="quantities")


if __name__ == "__main__":
    topology.main()
