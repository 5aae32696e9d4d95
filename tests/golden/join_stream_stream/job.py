"""The topology “paid-orders”."""

from millrace_runtime import Topology, json, string, within

topology = Topology("paid-orders", partitions={"orders": 3, "payments": 6})

orders = topology.stream(
    "orders",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
payments = topology.stream("payments", key=string(), value=json("order STRING, cents BIGINT"))
by_order = payments.select_key("value.order", name="by-order")
# Paid within an hour
paid = orders.left_join(
    by_order,
    within(before=0, after="1 hour", grace="5 minutes"),
    joiner="named_struct('item', left.item, 'paid', coalesce(right.cents, 0L))",
    name="paid",
)
paid.to("paid-orders")


if __name__ == "__main__":
    topology.main()
