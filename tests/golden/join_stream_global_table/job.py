"""The topology “local-prices”."""

from millrace_runtime import Topology, double, json, string

topology = Topology("local-prices")

orders = topology.stream(
    "orders",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
rates = topology.global_table("rates", key=string(), value=double())
# In local money
local = orders.join(rates, key="value.country", joiner="left.price * right", name="local")
local.to("local-prices")


if __name__ == "__main__":
    topology.main()
