"""The topology “latest-by-user”."""

from millrace_runtime import Topology, json, key_value_store, string

topology = Topology("latest-by-user", partitions={"clicks": 4})

clicks = topology.stream("clicks", key=string(), value=json("user STRING, page STRING"))

(
    # By user
    clicks.select_key("value.user", name="keyed")
    .to_table(store=key_value_store("latest-click", id="latest-store"), name="latest")
    .to("latest-clicks")
)


if __name__ == "__main__":
    topology.main()
