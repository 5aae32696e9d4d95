"""The topology “one-topic-twice”."""

from millrace_runtime import Topology, string

topology = Topology("one-topic-twice", partitions={"events": 2}, labels=False)

# First reader
first = topology.stream("events", key=string(), value=string(), name="first")
# Second reader
second = topology.stream("events", key=string(), value=string(), name="second")
first.map_values("upper(value)", name="upper").to("loud", name="loud")
second.to("quiet", name="quiet")


if __name__ == "__main__":
    topology.main()
