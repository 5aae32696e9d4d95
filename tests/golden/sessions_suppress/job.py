"""One record for each visit, when it is over: how many clicks it had."""

from millrace_runtime import Topology, session_store, sessions, string, until_window_closes

topology = Topology("clicks-per-visit", description=__doc__, partitions={"clicks": 4})

clicks = topology.stream("clicks", key=string(), value=string())

(
    # Clicks of each visit
    clicks.group_by_key()
    .windowed_by(sessions("30 minutes", grace="5 minutes"))
    .count(store=session_store("visits"), name="visits")
    .suppress(until_window_closes())
    .to("clicks-per-visit")
)


if __name__ == "__main__":
    topology.main()
