"""The topology “per-hour”."""

from millrace_runtime import Topology, hopping, string, window_store

topology = Topology("per-hour")

lines = topology.stream("lines", key=string(), value=string())
hours_store = window_store("hours", retention="1 day")

per_hour = (
    lines.group_by_key()
    .windowed_by(hopping("1 hour", advance="15 minutes"))
    .count(store=hours_store)
)

per_hour.to("hours")


if __name__ == "__main__":
    topology.main()
