"""Orders without a payment within ten minutes."""

from millrace_runtime import Topology, integer, string, within

topology = Topology("unpaid-orders", description=__doc__)

orders = topology.stream("orders", key=string(), value=string())
payments = topology.stream("payments", key=string(), value=integer())

checked = orders.left_join(
    payments,
    within(before="0 seconds", after="10 minutes"),
    joiner="named_struct('item', left, 'paid', right IS NOT NULL)",
    name="paid",
)

# Unpaid
checked.filter("NOT value.paid").map_values("value.item").to("unpaid-orders")


if __name__ == "__main__":
    topology.main()
