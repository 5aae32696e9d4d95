"""The topology “versions”."""

from millrace_runtime import Topology, string, versioned_store

topology = Topology("versions")

prices = topology.stream("prices", key=string(), value=string())
versions_store = versioned_store("versions", history_retention="7 days")
# Prices over time
table = prices.to_table(store=versions_store, name="table")
orders = topology.stream("orders", key=string(), value=string())
# Price at the time
priced = orders.join(table, joiner="concat(left, ' at ', right)", name="priced")
priced.to("priced")


if __name__ == "__main__":
    topology.main()
