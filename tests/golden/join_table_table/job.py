"""The topology “accounts”."""

from millrace_runtime import Topology, key_value_store, long, string

topology = Topology("accounts", partitions={"names": 2, "balances": 2})

names = topology.table("names", key=string(), value=string())
balances = topology.table("balances", key=string(), value=long())
account = names.outer_join(
    balances,
    joiner="named_struct('owner', key, 'name', left, 'balance', coalesce(right, 0L))",
    store=key_value_store("accounts", persistent=False),
    name="account",
)
account.to("accounts")


if __name__ == "__main__":
    topology.main()
