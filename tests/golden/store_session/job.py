"""The topology “visits”."""

from millrace_runtime import Topology, session_store, sessions, string

topology = Topology("visits")

clicks = topology.stream("clicks", key=string(), value=string())
visits_store = session_store("visits", retention="1 hour")

clicks_per_visit = (
    clicks.group_by_key()
    .windowed_by(sessions("5 minutes", grace="1 minute"))
    .count(store=visits_store)
)

clicks_per_visit.to("visits")


if __name__ == "__main__":
    topology.main()
