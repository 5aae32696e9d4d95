"""The topology “current-prices”."""

from millrace_runtime import Topology, json, key_value_store, string

topology = Topology("current-prices", partitions={"prices": 2})

prices = topology.table(
    "prices",
    key=string(),
    value=json("cents BIGINT, currency STRING"),
    store=key_value_store("prices"),
)
changes = prices.to_stream(name="changes")
changes.to("price-changes")


if __name__ == "__main__":
    topology.main()
