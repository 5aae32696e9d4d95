"""Orders with the price of their item, from a topic of prices."""

from millrace_runtime import Topology, integer, json, string

topology = Topology("lookup", description=__doc__)

prices = topology.global_table("prices", key=string(), value=integer())
orders = topology.stream("orders", key=string(), value=json("item STRING, quantity INT"))

orders.left_join(
    prices,
    key="value.item",
    joiner="named_struct('item', left.item, 'total', left.quantity * right)",
    name="with-price",
).to("priced-orders")


if __name__ == "__main__":
    topology.main()
