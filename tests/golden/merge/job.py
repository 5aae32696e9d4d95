"""The topology “both-shops”."""

from millrace_runtime import Topology, json, string

topology = Topology("both-shops", partitions={"north": 4, "south": 3})

north = topology.stream(
    "north",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
south = topology.stream(
    "south",
    key=string(),
    value=json("item STRING, quantity INT, price DOUBLE, country STRING, ordered_at BIGINT"),
)
all_ = north.merge(south, name="all")
all_.to("all-orders")


if __name__ == "__main__":
    topology.main()
