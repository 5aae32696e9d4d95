"""The topology “sessions”."""

from millrace_runtime import Topology, json, session_store, sessions, string

topology = Topology("sessions")

clicks = topology.stream("clicks", key=string(), value=json("page STRING, ms BIGINT"))
visits_store = session_store("visits")

# Per visit
session = (
    clicks.group_by_key()
    .windowed_by(sessions("30 minutes"))
    .aggregate(
        "STRUCT<pages: BIGINT, ms: BIGINT>",
        initializer="named_struct('pages', 0L, 'ms', 0L)",
        aggregator="named_struct('pages', agg.pages + 1L, 'ms', agg.ms + value.ms)",
        merger="named_struct('pages', left.pages + right.pages, 'ms', left.ms + right.ms)",
        store=visits_store,
        name="session",
    )
)

session.to("visits")


if __name__ == "__main__":
    topology.main()
