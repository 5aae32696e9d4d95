"""The topology “counted-store”."""

from millrace_runtime import Topology, key_value_store, string

topology = Topology("counted-store")

lines = topology.stream("lines", key=string(), value=string())
counts_store = key_value_store(
    "counts",
    key_type="STRING",
    value_type="BIGINT",
    persistent=False,
    logging_config={"min.insync.replicas": "2"},
)
lines_per_key = lines.group_by_key().count(store=counts_store)
lines_per_key.to("counts")


if __name__ == "__main__":
    topology.main()
