"""The topology “one-topic-twice”."""

from millrace_runtime import Topology, string

topology = Topology("one-topic-twice", partitions={"events": 2})

# First reader
first = topology.stream("events", key=string(), value=string(), name="first")
# Second reader
second = topology.stream("events", key=string(), value=string(), name="second")
first.map_values("upper(value)", name="upper", label="").to("loud", name="loud", label="")
second.to("quiet", name="quiet", label="")


if __name__ == "__main__":
    topology.main()
