"""The topology “by-country”."""

from millrace_runtime import Topology, json, string

topology = Topology("by-country")

orders = topology.stream(
    "orders",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
# By country
keyed = orders.select_key("value.country", name="keyed")
keyed.to("by-country", partition="pmod(hash(key), 3)")


if __name__ == "__main__":
    topology.main()
