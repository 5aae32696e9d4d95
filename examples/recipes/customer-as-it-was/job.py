"""Each order with the city that its customer had at the time of the order."""

from millrace_runtime import Topology, json, string, versioned_store

topology = Topology("customer-as-it-was", description=__doc__)

customers = topology.table(
    "customers",
    key=string(),
    value=json("city STRING"),
    store=versioned_store("customers", history_retention="7 days"),
)
orders = topology.stream("orders", key=string(), value=json("item STRING"))

orders.join(
    customers, joiner="named_struct('item', left.item, 'city', right.city)", name="with-city"
).to("orders-with-city")


if __name__ == "__main__":
    topology.main()
