"""The balance of each account, after each booking."""

from millrace_runtime import Topology, key_value_store, long, string

topology = Topology("balance", description=__doc__, processing_guarantee="exactly_once")

bookings = topology.stream("bookings", key=string(), value=long())

balances = bookings.group_by_key().reduce(
    "agg + value", store=key_value_store("balances"), name="balances"
)
balances.to("balances")


if __name__ == "__main__":
    topology.main()
