"""Events of each type in a topic of its own."""

from millrace_runtime import Topology, json, string

topology = Topology("split-by-type", description=__doc__)

events = topology.stream("events", key=string(), value=json("type STRING, amount INT"))

branches = events.split(
    {"paid": "value.type = 'paid'", "returned": "value.type = 'returned'"},
    default="other",
    name="by-type",
)
branches["paid"].to("paid")
branches["returned"].to("returned")
branches["other"].to("other-events")


if __name__ == "__main__":
    topology.main()
