"""The topology “updates”."""

from millrace_runtime import Topology, string

topology = Topology("updates")

users = topology.table("users", key=string(), value=string())

(
    users.to_stream(name="updates")
    # Swapped
    .map(key="value", value="key", name="keyed")
    .to("swapped")
)


if __name__ == "__main__":
    topology.main()
