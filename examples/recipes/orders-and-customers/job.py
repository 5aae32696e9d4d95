"""Open orders with their customer's city, up to date when either of them changes."""

from millrace_runtime import Topology, json, string

topology = Topology("orders-and-customers", description=__doc__)

orders = topology.table("orders", key=string(), value=json("customer STRING, item STRING"))
customers = topology.table("customers", key=string(), value=json("city STRING"))

orders.join(
    customers,
    foreign_key="value.customer",
    joiner="named_struct('item', left.item, 'city', right.city)",
    name="with-city",
).to("open-orders")


if __name__ == "__main__":
    topology.main()
