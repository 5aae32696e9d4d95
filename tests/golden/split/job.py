"""The topology “routes”."""

from millrace_runtime import Topology, json, string

topology = Topology("routes")

orders = topology.stream(
    "orders",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
# By size
route = orders.split(
    {"big": "value.quantity > 100", "small": "value.quantity <= 100"},
    default="strange",
    name="route",
)
route["big"].to("bulk", name="bulk")
route["small"].to("retail", name="retail")
# Odd ones
route["strange"].print("odd", name="odd")


if __name__ == "__main__":
    topology.main()
