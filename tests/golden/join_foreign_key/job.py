"""The topology “orders-of-customers”."""

from millrace_runtime import Topology, json, string

topology = Topology("orders-of-customers", partitions={"orders": 4, "customers": 2})

orders = topology.table("orders", key=string(), value=json("customer STRING, cents BIGINT"))
customers = topology.table("customers", key=string(), value=json("name STRING"))
# With the customer
owned = orders.left_join(
    customers,
    foreign_key="value.customer",
    joiner="named_struct('name', right.name, 'cents', left.cents)",
    name="owned",
)
owned.to("orders-with-customer")


if __name__ == "__main__":
    topology.main()
