"""The topology “item-and-price”."""

from millrace_runtime import Topology, json, string

topology = Topology("item-and-price")

orders = topology.stream(
    "orders",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
# Item and price
priced = orders.map(key="value.item", value="value.price * value.quantity", name="priced")
priced.to("priced")


if __name__ == "__main__":
    topology.main()
