"""The topology “people-only”."""

from millrace_runtime import Topology, json, key_value_store, string

topology = Topology("people-only")

visits = topology.table("visits", key=string(), value=json("agent STRING, pages BIGINT"))
# Without bots
people = visits.filter_not(
    "lower(value.agent) LIKE '%bot%'", store=key_value_store("people", logging=False), name="people"
)
people.to("people")


if __name__ == "__main__":
    topology.main()
